"""Bad input to the Gymnasium view: what is refused, with which message, and that nothing has moved."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest

import catbox_env
from catbox_agents import Agent, make
from catbox_agents.gymnasium import LearnerEnv, LearnerVectorEnv
from tests.agents.policies import checkpoint


def test_an_opponent_of_another_game_or_other_rules_is_refused(tmp_path: Path) -> None:
    path = checkpoint(tmp_path, "petrify_v0", 1)
    for make_env in (LearnerEnv, lambda *args, **kwargs: LearnerVectorEnv(2, *args, **kwargs)):
        with pytest.raises(
            ValueError, match="was trained for the game 'petrify_v0', asked to play 'cat_te_v0'"
        ):
            make_env("cat_te_v0", opponents=path)
        with pytest.raises(ValueError, match="size=4, asked to play with size=5"):
            make_env("petrify_v0", opponents=path, size=5)
        with pytest.raises(ValueError, match="this heuristic plays petrify_v0, not 'cat_te_v0'"):
            make_env("cat_te_v0", opponents="catbox_agents.heuristics.petrify:PetrifyHeuristic")
        agent = make("random", catbox_env.make_game("cat_te_v0", num_players=3))
        with pytest.raises(
            ValueError, match=r"was made for .*num_players=3.*, asked to play .*num_players=4"
        ):
            make_env("cat_te_v0", opponents=agent, num_players=4)


@pytest.mark.parametrize("action", [-1, 44, 1000, None, 0.5])
def test_an_illegal_action_raises_and_changes_nothing(action: object) -> None:
    env = LearnerEnv("cat_in_the_box_v0", opponents="random", num_players=4)
    env.reset(seed=0)
    before = env.games.vec._records.tobytes()
    with pytest.raises(ValueError, match=r"illegal actions|expected an integer from 0 to 44"):
        env.step(action)  # type: ignore[arg-type]
    assert env.games.vec._records.tobytes() == before


def test_a_step_after_the_end_is_refused() -> None:
    env = LearnerEnv("cat_in_the_box_v0", opponents="random", num_players=2)
    _, info = env.reset(seed=0)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    with pytest.raises(ValueError, match=r"the game is over; call reset\(\)"):
        env.step(0)
    assert env.reset()[1]["action_mask"].any()


def test_an_illegal_action_is_refused_with_the_rule() -> None:
    env = LearnerEnv("petrify_v0", opponents="random")
    _, info = env.reset(seed=0)
    action = int(np.argmin(info["action_mask"]))
    with pytest.raises(ValueError, match=rf"row 0: action {action} of seat 0: move to \w\d: .*"):
        env.step(action)


@pytest.mark.parametrize("batch", [False, True])
def test_a_step_before_the_first_reset_is_refused(batch: bool) -> None:
    env = LearnerVectorEnv(1, "petrify_v0") if batch else LearnerEnv("petrify_v0")
    before = env.games.vec._records.tobytes()
    action = int(env.games.vec.action_mask[0].argmax())
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before step\(\)"):
        env.step(np.array([action]) if batch else action)
    assert env.games.vec._records.tobytes() == before


class Illegal(Agent):
    """Plays an illegal action."""

    def act_batch(self, observations, action_masks, histories=None):  # type: ignore[no-untyped-def]
        return np.argmin(action_masks, axis=1)


class Fraction(Agent):
    """Does not answer with integers."""

    def act_batch(self, observations, action_masks, histories=None):  # type: ignore[no-untyped-def]
        return np.argmax(action_masks, axis=1) + 0.9


@pytest.mark.parametrize(
    ("opponent", "message"),
    [
        (f"{__name__}:Illegal", r"agent '.*:Illegal' chose the illegal action \d+ \(.*: .*\)"),
        (f"{__name__}:Fraction", r"agent '.*:Fraction': act_batch returned float64 .* expected integers"),
    ],
)
def test_an_opponent_that_plays_an_illegal_action_is_named_and_the_game_is_over(
    opponent: str, message: str
) -> None:
    env = LearnerEnv("petrify_v0", opponents=opponent)
    _, info = env.reset(seed=0)
    action = int(info["action_mask"].argmax())
    with pytest.raises(ValueError, match=message):
        env.step(action)
    with pytest.raises(gymnasium.error.ResetNeeded, match="an opponent's error"):
        env.step(action)


class LateIllegal(Agent):
    """Plays legally until a game is dealt after the first ones."""

    def act_batch(self, observations, action_masks, histories=None):  # type: ignore[no-untyped-def]
        fresh = self.game.observation_layout.unpack(observations)["open"].all(axis=(1, 2))
        late = fresh & (len(observations) < 4)
        return np.where(late, np.argmin(action_masks, axis=1), np.argmax(action_masks, axis=1))


def test_after_an_opponents_error_in_a_new_game_the_batch_asks_for_reset() -> None:
    envs = LearnerVectorEnv(4, "petrify_v0", opponents=f"{__name__}:LateIllegal", learner_seat=1)
    envs.reset(seed=0)

    def play_on() -> None:
        for _ in range(100):
            envs.step(envs.action_masks().argmax(axis=1))

    with pytest.raises(ValueError, match="LateIllegal' chose the illegal action"):
        play_on()
    for _ in range(2):
        with pytest.raises(gymnasium.error.ResetNeeded, match="an opponent's error"):
            envs.step(envs.action_masks().argmax(axis=1))
    envs.reset(seed=0)
    envs.step(envs.action_masks().argmax(axis=1))


def test_options_of_reset_are_refused_rather_than_ignored() -> None:
    for env in (LearnerEnv("petrify_v0"), LearnerVectorEnv(2, "petrify_v0")):
        with pytest.raises(ValueError, match="has no options"):
            env.reset(options={"deal": {}})
        env.reset(seed=np.int64(1), options={}) if isinstance(env, LearnerVectorEnv) else env.reset(
            options={}
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"opponents": "hueristic"}, "did you mean 'heuristic'"),
        ({"opponents": ["random"]}, "1 agents for 3 other seats; give one agent for all"),
        ({"opponents": {"pool": ["random"]}}, "expected {'any_of': .one or more agents.}"),
        ({"opponents": {"any_of": []}}, "expected {'any_of': .one or more agents.}"),
        ({"learner_seat": 4}, "learner_seat=4: expected a seat from 0 to 3, or 'random'"),
        ({"learner_seat": "first"}, "learner_seat='first'"),
        ({"num_players": 9}, "num_players=9"),
        ({"render_mode": "human"}, "render_mode='human': expected None or 'ansi'"),
    ],
)
def test_bad_arguments_are_named(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LearnerEnv("cat_in_the_box_v0", **arguments)
