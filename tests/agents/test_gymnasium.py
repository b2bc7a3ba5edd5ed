"""The Gymnasium view: Gymnasium's own checks, exact rewards, seats, opponents, and a learner of another library."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import catbox_env
from catbox_agents import HEURISTICS, Agent, make
from catbox_agents.learners.gymnasium import LearnerEnv, LearnerVectorEnv
from catbox_env import GAMES
from catbox_env.registration import gymnasium_id
from tests.agents.policies import checkpoint, episode, random_legal
from tests.core.game_cases import CASES

IDS = [gymnasium_id(game_id) for game_id in GAMES]


def up_to_three_players(game_id: str) -> int:
    """Three players, or the most that the game accepts."""
    return min(3, max(CASES[game_id].values["num_players"]))


class FirstLegal(Agent):
    """Always the lowest legal action."""

    def act(self, observation, action_mask, history=None):  # type: ignore[no-untyped-def]
        return int(np.argmax(action_mask))


class NeedsHistory(FirstLegal):
    needs_history = True

    def act(self, observation, action_mask, history=None):  # type: ignore[no-untyped-def]
        assert history is not None
        assert history.shape == (self.game.max_game_length, 2)
        return super().act(observation, action_mask)


@pytest.mark.parametrize("env_id", IDS)
def test_every_game_is_made_by_its_name(env_id: str) -> None:
    env = gymnasium.make(env_id, opponents="random", learner_seat="random", render_mode="ansi")
    observation, info = env.reset(seed=1)
    assert observation.dtype == np.int8
    assert info["action_mask"].any()
    assert np.array_equal(info["action_mask"], env.get_wrapper_attr("action_masks")())
    assert isinstance(env.render(), str)
    envs = gymnasium.make_vec(env_id, num_envs=3, vectorization_mode="vector_entry_point", opponents="random")
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert envs.reset(seed=1)[0].shape == (3, *observation.shape)


@pytest.mark.parametrize(
    ("game_id", "learner_seat", "options"),
    [
        ("cat_in_the_box_v0", "random", {"num_players": 3, "rounds": 2}),
        ("cat_te_v0", "random", {"rounds": 2, "side_pot": 1}),
        ("petrify_v0", 2, {"num_players": 3}),
    ],
)
def test_the_learner_is_paid_all_that_its_seat_wins(
    game_id: str, learner_seat: int | str, options: dict[str, int]
) -> None:
    """The rewards of an episode sum to the return of the learner's seat; `info` has the statistics of every round."""
    env = LearnerEnv(game_id, opponents="random", learner_seat=learner_seat, **options)
    rng = np.random.default_rng(0)
    for seed in range(12):
        paid, scores, rounds = 0.0, 0, 0
        for _, reward, info in episode(env, seed, lambda mask: rng.choice(np.flatnonzero(mask))):
            assert env.games.vec.current_player[0] in (env.games.seats[0], -1)
            paid += reward
            scores += info.get("score", 0)
            rounds += set(env.game.kernels.info_names) < set(info)
        assert paid == pytest.approx(float(env.games.vec._records["returns"][0, env.games.seats[0]]))
        assert scores == paid or "score" not in env.game.kernels.info_names
        assert rounds == options.get("rounds", 1)
        assert not info["action_mask"].any()


def test_what_is_paid_before_the_learners_first_decision_is_told_at_the_reset() -> None:
    """Seat 0 shows an instant win in the first round, before seat 3 has decided anything: seat 3 pays an ante."""
    env = LearnerEnv("cat_te_v0", opponents="heuristic", learner_seat=3, rounds=3)
    found = 0
    for seed in range(200):
        _, info = env.reset(seed=seed)
        owed = float(env.games.vec._records["returns"][0, 3])
        assert info.get("score", 0) == owed
        assert (owed != 0) == ("score" in info)
        found += owed != 0
    assert found > 0


def test_a_seed_reproduces_everything_and_without_one_the_generator_continues() -> None:
    def played(env: LearnerEnv, seed: int | None) -> list:
        return [(seen.tolist(), reward) for seen, reward, _ in episode(env, seed)]

    one, two = (
        LearnerEnv("cat_in_the_box_v0", opponents={"any_of": ["random", "heuristic"]}) for _ in range(2)
    )
    first = played(one, 5)
    assert first == played(two, 5)
    assert first != played(one, None) == played(two, None)
    assert first == played(one, 5)


def test_seats_and_opponents_are_drawn_for_each_episode_and_kept_through_it() -> None:
    envs = LearnerVectorEnv(
        200,
        "cat_in_the_box_v0",
        opponents={"any_of": ["random", "heuristic"]},
        learner_seat="random",
        num_players=3,
    )
    _, infos = envs.reset(seed=0)
    games, rng = envs.games, np.random.default_rng(0)
    assert set(games.seats) == {0, 1, 2}
    assert set(games.players[games.players >= 0]) == {0, 1}
    changed = np.zeros(200, bool)
    for _ in range(25):
        seats, players = games.seats.copy(), games.players.copy()
        _, _, terminated, _, infos = envs.step(random_legal(rng, infos["action_mask"]))
        moved = (seats != games.seats) | (players != games.players).any(1)
        assert not (moved & ~terminated).any()
        changed |= moved
    assert changed.mean() > 0.5


def test_one_opponent_for_each_seat_sits_clockwise_from_the_learner() -> None:
    env = LearnerEnv("cat_in_the_box_v0", opponents=["random", "heuristic"], learner_seat=2, num_players=3)
    env.reset(seed=0)
    assert env.games.players[0].tolist() == [0, 1, -1]


def test_an_opponent_that_asks_for_its_history_gets_it() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=2)
    env = LearnerEnv("cat_in_the_box_v0", opponents=NeedsHistory(game), num_players=2, learner_seat=1)
    _, info = env.reset(seed=0)
    env.step(int(info["action_mask"].argmax()))


@pytest.mark.parametrize(
    ("game_id", "options"),
    [("cat_in_the_box_v0", {"num_players": 3}), ("petrify_v0", {"num_players": 3, "size": 6})],
)
def test_checkpoints_play_the_other_seats(tmp_path: Path, game_id: str, options: dict[str, Any]) -> None:
    """A checkpoint in each other seat: every move of the others is the one that its own policy takes."""
    paths = {seat: checkpoint(tmp_path, game_id, seed, **options) for seed, seat in enumerate([2, 0], 1)}
    env = LearnerEnv(game_id, opponents=list(paths.values()), learner_seat=1, **options)
    policies = {seat: make(path, env.game) for seat, path in paths.items()}
    state, action = env.game.new_initial_state(seed=np.random.SeedSequence(9, spawn_key=(0, 0))), None
    for seen, _, info in episode(env, 9):
        if action is not None:
            state.apply_action(action)
        while not state.is_terminal() and state.current_player != 1:
            policy = policies[state.current_player]
            state.apply_action(policy.act(state.observation(state.current_player), state.action_mask()))
        assert np.array_equal(seen, state.observation(1))
        action = int(info["action_mask"].argmax())
    assert state.is_terminal()


@pytest.mark.parametrize(
    ("game_id", "learner_seat"), [*((game_id, "last") for game_id in HEURISTICS), ("cat_te_v0", "random")]
)
def test_the_last_observation_of_a_game_is_the_learners_own(game_id: str, learner_seat: int | str) -> None:
    """A finished game of a batch shows what seat 0 sees; the learner gets what its own seat sees."""
    players = up_to_three_players(game_id)
    learner_seat = players - 1 if learner_seat == "last" else learner_seat
    options = {"num_players": players} | ({"size": 6} if game_id == "petrify_v0" else {})
    env = LearnerEnv(game_id, opponents="heuristic", learner_seat=learner_seat, **options)
    vec, told_apart = env.games.vec, 0
    for seed in range(8):
        *_, (seen, _, _) = episode(env, seed)
        every = [vec.observe(np.array([seat]))[0].tolist() for seat in range(players)]
        own = every.pop(int(env.games.seats[0]))
        assert seen.tolist() == own
        told_apart += own not in every
    assert told_apart > 0
