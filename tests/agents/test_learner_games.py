"""Games with one learner in each: random agents in compiled code, and a generator for each game."""

from pathlib import Path

import numpy as np
import pytest

import catbox_env
from catbox_agents import Agent
from catbox_agents.agent import RandomAgent, Seed
from catbox_agents.learners.games import LearnerGames, make_random_play
from catbox_env.core.bits import NONE, legal_at
from catbox_env.core.rng import new_generators, next_uint64, seed_sequence, unit_interval
from tests.agents.policies import checkpoint

#: Rule sets with many rounds, with rewards before the learner's first decision, and with games that end before it.
RULES = [
    ("cat_in_the_box_v0", {"num_players": 3, "rounds": 2}),
    ("cat_te_v0", {"rounds": 3}),
    ("petrify_v0", {"num_players": 4, "size": 3}),
]


class Same(RandomAgent):
    """Is asked, where compiled code plays for a RandomAgent."""


def trace(games: LearnerGames, seed: object, num_steps: int) -> list[bytes]:
    """Everything that a learner who plays its lowest action sees in some steps."""
    games.reset(seed)  # type: ignore[arg-type]
    seen = []
    for _ in range(num_steps):
        paid = games.step(games.action_masks().argmax(1))
        shown = [games.observation(), games.action_masks(), paid, games.seats, games.over, games.round_ended]
        seen.append(b"".join(np.ascontiguousarray(array).tobytes() for array in shown))
        games.reset(rows=np.flatnonzero(games.over))
        seen.append(games.owed.tobytes() + games.skipped.tobytes() + games.skipped_reward.tobytes())
    return seen


@pytest.mark.parametrize(("game_id", "options"), RULES)
def test_random_agents_play_the_same_games_in_compiled_code(
    game_id: str, options: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = catbox_env.make_game(game_id, **options)
    fast, slow = LearnerGames(game, 20, "random", "random", 2), LearnerGames(game, 20, Same(game), "random")
    with monkeypatch.context() as patched:
        patched.setattr(RandomAgent, "act_batch", None)  # not asked
        quickly = trace(fast, 3, 60)
    assert quickly == trace(slow, 3, 60)


@pytest.mark.nojit
def test_every_legal_action_has_the_same_share_of_the_numbers_below_one() -> None:
    mask = np.array([False, True, True, False, True, False])
    for place, action in enumerate([1, 2, 4]):
        for point in (place / 3, (place + 0.5) / 3, np.nextafter((place + 1) / 3, 0)):
            assert legal_at(mask, point) == action
    assert legal_at(np.zeros(3, np.bool_), 0.5) == NONE


@pytest.mark.nojit
def test_the_others_play_at_random_until_a_seat_is_to_move() -> None:
    """As single steps with the same numbers would: where the game stands, and what all the steps paid together."""
    options = {"num_players": 3, "num_ranks": 3, "copies": 4, "rounds": 2, "auto_deal": False}
    vec, twin = (catbox_env.make_vec("cat_in_the_box_v0", 5, seed=4, **options) for _ in range(2))
    seats = np.array([0, 1, 2, 1, -1])  # nobody's seat: the last game is played to its end
    generators = new_generators([seed_sequence(number) for number in range(5)])
    numbers, play = generators.copy(), make_random_play(vec.game.loops, vec.game.kernels.write_mask)
    paid, ended = np.zeros((5, 3)), np.zeros(5, bool)
    rows = np.array([1, 2, 4])
    for first in (True, False):
        vec.play_compiled(lambda *games: play(seats, generators, *games), rows)
        paid[:], ended[:] = 0.0, False
        for row in rows:
            while twin.current_player[row] not in (-1, seats[row]):
                action = legal_at(twin.action_mask[row], unit_interval(np.uint64(next_uint64(numbers[row]))))
                twin.step(np.array([action]), np.array([row]))
                paid += twin.rewards
                ended |= twin.round_ended
        assert vec._records.tobytes() == twin._records.tobytes()
        assert vec.observation.tobytes() == twin.observation.tobytes()
        assert vec.action_mask.tobytes() == twin.action_mask.tobytes()
        assert np.array_equal(vec.rewards, paid)
        assert np.array_equal(vec.round_ended, ended)
        assert vec.terminated.tolist() == [False] * 4 + [first]
        assert np.array_equal(generators, numbers)
        for batch in (vec, twin):
            moving = np.flatnonzero(batch.current_player >= 0)
            batch.step(batch.action_mask[moving].argmax(1), moving)
    assert vec.current_player.tolist()[4] == -1


@pytest.mark.parametrize(("game_id", "options"), RULES)
def test_a_game_with_a_seed_of_its_own_plays_as_it_does_alone(
    tmp_path: Path, game_id: str, options: dict
) -> None:
    """Over several episodes, whoever plays, whatever the other games do."""
    game = catbox_env.make_game(game_id, **options)
    opponents = {"any_of": ["random", checkpoint(tmp_path, game_id, 1, **options), "heuristic"]}
    seeds = [5, 0, 5, 2**40]
    together = LearnerGames(game, 4, opponents, "random")
    alone = [LearnerGames(game, 1, opponents, "random") for _ in seeds]
    together.reset(seeds)
    for one, seed in zip(alone, seeds, strict=True):
        one.reset([seed])
    for _ in range(40):
        paid = together.step(together.action_masks().argmax(1))
        for i, one in enumerate(alone):
            assert one.step(one.action_masks().argmax(1))[0] == paid[i]
            assert np.array_equal(one.observation()[0], together.observation()[i])
            assert np.array_equal(one.players[0], together.players[i])
            one.reset(rows=np.flatnonzero(one.over))
        together.reset(rows=np.flatnonzero(together.over))
        assert np.array_equal(np.concatenate([one.skipped for one in alone]), together.skipped)
        assert np.array_equal(np.concatenate([one.owed for one in alone]), together.owed)


def test_a_reset_of_some_games_leaves_the_others_as_they_are() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    games = LearnerGames(game, 4, "random", "random")
    games.reset(0)
    games.step(games.action_masks().argmax(1))
    records, draws = [record.tobytes() for record in games.vec._records], games.generators.copy()
    games.reset(None, np.array([1, 3]))
    for kept in (0, 2):
        assert games.vec._records[kept].tobytes() == records[kept]
        assert games.generators[kept] == draws[kept]
    assert games.vec._records[1].tobytes() != records[1]
    games.reset([None, 8, None, None], np.array([1, 3]))
    alone = LearnerGames(game, 1, "random", "random")
    alone.reset([8])
    assert np.array_equal(alone.observation()[0], games.observation()[1])


def test_every_agent_of_a_pool_is_drawn_equally_often() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=5)
    games = LearnerGames(game, 2000, {"any_of": ["random", "heuristic", "random"]}, "random")
    games.reset(seed=1)
    counts = np.bincount(games.players[games.players >= 0], minlength=3)
    assert counts / 8000 == pytest.approx(1 / 3, abs=0.025)  # 4.7 standard errors


class Drawing(Agent):
    """Draws its own numbers, from the seed that it is made with."""

    def __init__(self, game: catbox_env.Game, seed: Seed = None) -> None:
        super().__init__(game, seed)
        self.generator = np.random.default_rng(seed)

    def act(self, observation, action_mask, history=None):  # type: ignore[no-untyped-def]
        return int(self.generator.choice(np.flatnonzero(action_mask)))


def test_agents_that_draw_numbers_of_their_own_repeat_them_for_a_seed_and_differ() -> None:
    """For other seeds, and from one another."""
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3, rounds=2)
    games = LearnerGames(game, 3, [f"{__name__}:Drawing"] * 2, "random")
    one, other = trace(games, 7, 20), trace(games, 8, 20)
    assert trace(games, 7, 20) == one
    assert trace(LearnerGames(game, 3, [f"{__name__}:Drawing"] * 2, "random"), 7, 20) == one
    games.reset(7)
    first, second = (agent.generator.random() for agent in games.agents)  # type: ignore[attr-defined]
    games.reset(8)
    assert len({first, second, games.agents[0].generator.random()}) == 3  # type: ignore[attr-defined]
    assert one != other


def test_agents_that_are_given_as_objects_repeat_their_decisions_too() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    objects = LearnerGames(game, 4, [RandomAgent(game, 1), Same(game, 2)], "random")
    assert trace(objects, 3, 30) == trace(LearnerGames(game, 4, "random", "random"), 3, 30)
