"""The single-agent view: Gymnasium's own checks, exact pay, fair seats, and a learner of another library on it."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import catbox_env
from catbox_agents import Agent, make
from catbox_agents.gymnasium import LearnerEnv, LearnerVectorEnv
from catbox_env import GAMES
from catbox_env.registration import gymnasium_id

IDS = [gymnasium_id(game_id) for game_id in GAMES]


class LegalLearner(LearnerEnv):
    """Takes any action id for a legal one, so that a checker that knows no masks can play."""

    def step(self, action: int) -> tuple:
        legal = np.flatnonzero(self.action_masks())
        return super().step(int(legal[action % len(legal)]) if len(legal) else action)


class FirstLegal(Agent):
    """Always the lowest legal action."""

    def act(self, observation, action_mask, history=None):  # type: ignore[no-untyped-def]
        return int(np.argmax(action_mask))


class NeedsHistory(FirstLegal):
    needs_history = True

    def act(self, observation, action_mask, history=None):  # type: ignore[no-untyped-def]
        assert history is not None
        assert history.shape == (self.game.history_length, 2)
        return super().act(observation, action_mask)


def legal(rng: np.random.Generator, masks: np.ndarray) -> np.ndarray:
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


@pytest.mark.parametrize("game_id", GAMES)
def test_gymnasiums_checker_passes(game_id: str) -> None:
    check_env(LegalLearner(game_id, opponents="random"), skip_render_check=True)


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


@pytest.mark.parametrize("learner_seat", [0, 2, "random"])
def test_the_learner_is_paid_all_that_its_seat_wins(learner_seat: int | str) -> None:
    """Replay every episode on a plain state: the pay of the episode is the return of the learner's seat."""
    env = LearnerEnv(
        "cat_in_the_box_v0", opponents="random", learner_seat=learner_seat, num_players=3, rounds=2
    )
    rng = np.random.default_rng(0)
    for seed in range(12):
        _, info = env.reset(seed=seed)
        paid, over = 0.0, False
        while not over:
            seat = int(env.tables.seats[0])
            assert env.tables.vec.current_player[0] == seat
            _, reward, over, truncated, info = env.step(int(legal(rng, info["action_mask"][None])[0]))
            assert not truncated
            paid += reward
        assert paid == pytest.approx(float(env.tables.vec._records["returns"][0, seat]))
        assert not info["action_mask"].any()
        assert {"score", "tricks_won", "bid", "bonus", "paradox"} < set(info)


def test_the_batch_plays_the_episodes_that_single_environments_play() -> None:
    """With opponents that draw nothing, game i of a batch is the game of the i-th seed sequence."""
    envs = LearnerVectorEnv(5, "cat_in_the_box_v0", opponents="heuristic", learner_seat=1, num_players=3)
    observations, infos = envs.reset(seed=4)
    children = np.random.SeedSequence(4).spawn(2)[0].spawn(5)
    game, heuristic = envs.game, make("heuristic", envs.game)
    states = [game.new_initial_state(seed=child) for child in children]

    def play_on(state):  # type: ignore[no-untyped-def]
        paid = 0.0
        while not state.is_terminal() and state.current_player != 1:
            state.apply_action(heuristic.act(state.observation(state.current_player), state.action_mask()))
            paid += state.rewards()[1]
        return paid

    for state in states:
        play_on(state)
    ended = 0
    for _ in range(40):
        for i, state in enumerate(states):
            assert np.array_equal(observations[i], state.observation(1))
            assert np.array_equal(infos["action_mask"][i], state.action_mask())
        actions = infos["action_mask"].argmax(1)
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        assert not truncated.any()
        for i, state in enumerate(states):
            state.apply_action(int(actions[i]))
            paid = state.rewards()[1] + play_on(state)
            assert rewards[i] == pytest.approx(paid)
            assert terminated[i] == state.is_terminal()
            if terminated[i]:
                ended += 1
                assert np.array_equal(infos["final_obs"][i], state.observation(1))
                assert infos["final_info"]["score"][i] == state.info(1)["score"]
                states[i] = game.initial_state_from(state.generators)
                play_on(states[i])
    assert ended > 10


def test_seeds_reproduce_and_no_seed_goes_on() -> None:
    def episode(env: LearnerEnv, seed: int | None) -> list:
        rng = np.random.default_rng(3)
        seen, info = env.reset(seed=seed)
        trace, over = [seen.tolist()], False
        while not over:
            seen, reward, over, _, info = env.step(int(legal(rng, info["action_mask"][None])[0]))
            trace.append((seen.tolist(), reward))
        return trace

    one, two = (
        LearnerEnv("cat_in_the_box_v0", opponents={"any_of": ["random", "heuristic"]}) for _ in range(2)
    )
    assert episode(one, 5) == episode(two, 5)
    assert episode(one, None) == episode(two, None)
    first = episode(one, 5)
    assert first != episode(one, None)
    assert first == episode(one, 5)


def test_seats_and_opponents_are_drawn_for_each_episode_and_kept_through_it() -> None:
    envs = LearnerVectorEnv(
        200,
        "cat_in_the_box_v0",
        opponents={"any_of": ["random", "heuristic"]},
        learner_seat="random",
        num_players=3,
    )
    _, infos = envs.reset(seed=0)
    tables, rng = envs.tables, np.random.default_rng(0)
    assert set(tables.seats) == {0, 1, 2}
    assert set(tables.players[tables.players >= 0]) == {0, 1}
    changed = np.zeros(200, bool)
    for _ in range(25):
        seats, players = tables.seats.copy(), tables.players.copy()
        _, _, terminated, _, infos = envs.step(legal(rng, infos["action_mask"]))
        moved = (seats != tables.seats) | (players != tables.players).any(1)
        assert not (moved & ~terminated).any()
        changed |= moved
    assert changed.mean() > 0.5


def test_one_opponent_for_each_seat_sits_clockwise_from_the_learner() -> None:
    env = LearnerEnv("cat_in_the_box_v0", opponents=["random", "heuristic"], learner_seat=2, num_players=3)
    env.reset(seed=0)
    assert env.tables.players[0].tolist() == [0, 1, -1]


def test_an_opponent_that_asks_for_its_history_gets_it() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=2)
    env = LearnerEnv("cat_in_the_box_v0", opponents=NeedsHistory(game), num_players=2, learner_seat=1)
    _, info = env.reset(seed=0)
    env.step(int(info["action_mask"].argmax()))


@pytest.mark.parametrize("action", [-1, 44, 1000, None, 0.5])
def test_a_mask_ignored_is_an_error_that_changes_nothing(action: object) -> None:
    env = LearnerEnv("cat_in_the_box_v0", opponents="random", num_players=4)
    env.reset(seed=0)
    before = env.tables.vec._records.tobytes()
    with pytest.raises(ValueError, match=r"illegal actions|expected an integer from 0 to 44"):
        env.step(action)  # type: ignore[arg-type]
    assert env.tables.vec._records.tobytes() == before


def test_a_step_after_the_end_is_refused() -> None:
    env = LearnerEnv("cat_in_the_box_v0", opponents="random", num_players=2)
    _, info = env.reset(seed=0)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    with pytest.raises(ValueError, match="illegal actions in 1 of 1 games"):
        env.step(0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"opponents": "hueristic"}, "did you mean 'heuristic'"),
        ({"opponents": ["random"]}, "1 agents for 3 other seats; give one agent for all"),
        ({"opponents": {"pool": ["random"]}}, "expected {'any_of': .one agent or more.}"),
        ({"opponents": {"any_of": []}}, "expected {'any_of': .one agent or more.}"),
        ({"learner_seat": 4}, "learner_seat=4: expected a seat from 0 to 3, or 'random'"),
        ({"learner_seat": "first"}, "learner_seat='first'"),
        ({"num_players": 9}, "num_players=9"),
        ({"render_mode": "human"}, "render_mode='human': expected None or 'ansi'"),
    ],
)
def test_bad_arguments_are_named(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LearnerEnv("cat_in_the_box_v0", **arguments)


def test_maskable_ppo_learns_without_a_wrapper() -> None:
    import sb3_contrib

    env = gymnasium.make("catbox/CatInTheBox-v0", num_players=2, hand_size=4, num_ranks=3, copies=4,
                         revealed_cards=0, opponents="random")  # fmt: skip
    model = sb3_contrib.MaskablePPO(
        "MlpPolicy", env, n_steps=256, batch_size=128, ent_coef=0.01, learning_rate=3e-3, seed=0, device="cpu"
    )

    def mean_reward() -> float:
        total, (seen, info) = 0.0, env.reset(seed=100)
        for _ in range(300):
            over = False
            while not over:
                action, _ = model.predict(seen, action_masks=info["action_mask"], deterministic=True)
                seen, reward, over, _, info = env.step(int(action))
                total += reward
            seen, info = env.reset()
        return total / 300

    before = mean_reward()
    model.learn(4096)
    assert mean_reward() > before + 0.2
