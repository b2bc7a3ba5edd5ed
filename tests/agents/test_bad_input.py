"""Bad input to public functions of ``catbox_agents`` is refused with a message that names it, and changes nothing."""

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catbox_agents import (
    RolloutSearch,
    check_agent,
    evaluate,
    known_agents,
    make,
    play_out,
    read_record,
    run_arena,
    save_policy,
)
from catbox_agents.bench import run_bench, suite, verify
from catbox_agents.dataset import play_games, read_games, write_dataset
from catbox_agents.features import facts, features_of
from catbox_agents.learners.gymnasium import LearnerEnv, LearnerVectorEnv
from catbox_agents.networks.inputs import NetworkInputs, input_scale
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_agents.text import TextGame
from catbox_env import make_game, make_vec
from tests.core.bad_values import FLAGS, INTEGERS, NONE, TEXTS, check_refusals

GAME = make_game("petrify_v0")
VEC = make_vec("petrify_v0", 2, seed=0)
SEARCH = RolloutSearch(GAME, "random", worlds=1)
ENV = LearnerEnv("petrify_v0", opponents="random")
ENV.reset(seed=0)
ENVS = LearnerVectorEnv(2, "petrify_v0", opponents="random")
ENVS.reset(seed=0)


def search(histories: Any) -> Any:
    game = make_game("cat_te_v0", num_players=2)
    state = game.new_initial_state(seed=0)
    return make("search", game).act_batch(state.observation(0)[None], state.action_mask()[None], histories)


FUNCTIONS: list[tuple[str, Callable[[Any], Any], list[Any]]] = [
    ("make game", lambda v: make("random", v), []),
    ("evaluate game", lambda v: evaluate(v, ["random", "random"], 10), []),
    ("random act_batch", lambda v: make("random", GAME).act_batch(v, VEC.action_mask), []),
    ("random act_batch masks", lambda v: make("random", GAME).act_batch(VEC.observation, v), []),
    ("heuristic act_batch", lambda v: make("heuristic", GAME).act_batch(v, VEC.action_mask), []),
    ("heuristic act_batch masks", lambda v: make("heuristic", GAME).act_batch(VEC.observation, v), []),
    ("make spec", lambda v: make(v, GAME), []),
    ("make seed", lambda v: make("random", GAME, v), NONE + INTEGERS),
    ("evaluate agents", lambda v: evaluate(GAME, v, 10), []),
    ("evaluate agent", lambda v: evaluate(GAME, [v, "random"], 10), []),
    ("evaluate num_deals", lambda v: evaluate(GAME, ["random", "random"], v), INTEGERS),
    ("evaluate seed", lambda v: evaluate(GAME, ["random", "random"], 10, seed=v), NONE + INTEGERS),
    ("evaluate names", lambda v: evaluate(GAME, ["random", "random"], 10, names=v), NONE),
    ("play_out vec", lambda v: play_out(v, "random"), []),
    ("play_out agents", lambda v: play_out(VEC, v), []),
    ("play_out until", lambda v: play_out(VEC, "random", until=v), []),
    ("RolloutSearch game", RolloutSearch, []),
    ("RolloutSearch policy", lambda v: RolloutSearch(GAME, v), NONE),
    ("RolloutSearch worlds", lambda v: RolloutSearch(GAME, worlds=v), INTEGERS[:1]),
    ("RolloutSearch max_games", lambda v: RolloutSearch(GAME, max_games=v), INTEGERS),
    ("RolloutSearch num_threads", lambda v: RolloutSearch(GAME, num_threads=v), []),
    ("RolloutSearch search", lambda v: SEARCH.search(v, VEC.action_mask, 0), []),
    ("RolloutSearch search masks", lambda v: SEARCH.search(VEC.observation, v, 0), []),
    ("RolloutSearch search seed", lambda v: SEARCH.search(VEC.observation, VEC.action_mask, v), NONE + INTEGERS),
    ("known_agents game", known_agents, NONE),
    ("check_agent game", lambda v: check_agent(make("random", GAME), "it", v), NONE),
    ("facts game", facts, []),
    ("features_of game", features_of, []),
    ("NetworkInputs game", NetworkInputs, []),
    ("NetworkInputs source", lambda v: NetworkInputs(GAME, source=v), [""]),
    ("input_scale layout", input_scale, []),
    ("TextGame game", lambda v: TextGame(v, "random"), []),
    # Of these, the item is refused.
    ("play_games agents", lambda v: play_games(GAME, v, 1), [[1.5], np.array([1.5]), np.array(["a"])]),
    ("read_games path", read_games, TEXTS),
    ("write_dataset data", lambda v: write_dataset(v, "nowhere"), []),
    ("write_dataset output", lambda v: write_dataset(play_games(GAME, ["random"], 1), v), NONE + TEXTS),
    ("search act_batch histories", search, NONE),
    ("save_policy layers", lambda v: save_policy("nowhere", GAME, v), []),
    ("PolicyAgent network", lambda v: PolicyAgent(v, GAME), []),
    ("PolicyAgent adapted", lambda v: PolicyAgent(None, GAME, adapted=v), NONE),
    ("run_arena output", lambda v: run_arena(GAME, ["random", "best"], 10, output=v), NONE + TEXTS),
    ("run_arena record", lambda v: run_arena(GAME, ["random", "best"], 10, record=v), NONE + TEXTS),
    ("read_record path", read_record, TEXTS),
    ("run_bench suite", lambda v: run_bench("random", v, "nowhere"), []),
    ("run_bench output", lambda v: run_bench("random", suite("petrify"), v), TEXTS),
    ("run_bench name", lambda v: run_bench("random", suite("petrify"), "nowhere", name=v), NONE + TEXTS),
    ("run_bench declared", lambda v: run_bench("random", suite("petrify"), "no", declared=v), [None, {}]),
    ("verify folder", verify, TEXTS),
    ("LearnerEnv game", LearnerEnv, []),
    ("LearnerEnv opponents", lambda v: LearnerEnv("petrify_v0", opponents=v), []),
    ("LearnerEnv opponent", lambda v: LearnerEnv("petrify_v0", opponents=[v]), []),
    ("LearnerEnv any_of", lambda v: LearnerEnv("petrify_v0", opponents={"any_of": v}), []),
    ("LearnerEnv learner_seat", lambda v: LearnerEnv("petrify_v0", learner_seat=v), []),
    ("LearnerEnv render_mode", lambda v: LearnerEnv("petrify_v0", render_mode=v), NONE),
    ("LearnerEnv mask_in_observation", lambda v: LearnerEnv("petrify_v0", mask_in_observation=v), FLAGS),
    ("LearnerEnv dtype", lambda v: LearnerEnv("petrify_v0", dtype=v), []),
    ("LearnerEnv illegal_action", lambda v: LearnerEnv("petrify_v0", illegal_action=v), []),
    ("LearnerEnv reset options", lambda v: ENV.reset(options=v), [None, {}]),
    ("LearnerEnv reset seed", lambda v: LearnerEnv("petrify_v0").reset(seed=v), NONE + INTEGERS),
    ("LearnerEnv step", ENV.step, []),
    ("LearnerVectorEnv num_envs", lambda v: LearnerVectorEnv(v, "petrify_v0"), [99_999]),
    ("LearnerVectorEnv num_threads", lambda v: LearnerVectorEnv(2, "petrify_v0", num_threads=v), []),
    ("LearnerVectorEnv render_mode", lambda v: LearnerVectorEnv(2, "petrify_v0", render_mode=v), NONE),
    ("LearnerVectorEnv autoreset_mode", lambda v: LearnerVectorEnv(2, "petrify_v0", autoreset_mode=v), []),
    ("LearnerVectorEnv reset mask", lambda v: ENVS.reset(options={"reset_mask": v}), []),
    ("LearnerVectorEnv reset options", lambda v: ENVS.reset(options=v), [None, {}]),
    ("LearnerVectorEnv reset seed", lambda v: LearnerVectorEnv(2, "petrify_v0").reset(seed=v), NONE + INTEGERS),
    ("LearnerVectorEnv step", ENVS.step, []),
]  # fmt: skip


def fingerprint() -> bytes:
    vecs = [VEC, ENV.games.vec, ENVS.games.vec]
    return b"".join(pickle.dumps(vec) for vec in vecs)


@pytest.mark.parametrize(("name", "function", "taken"), FUNCTIONS, ids=[name for name, *_ in FUNCTIONS])
def test_bad_input_is_refused_by_name_and_nothing_changes(
    name: str,
    function: Callable[[Any], Any],
    taken: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    check_refusals(name, function, taken, fingerprint)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "missing", "extra"), [("sb3", "stable_baselines3", "sb3"), ("learners.rllib", "ray", "ray")]
)
def test_without_an_extra_the_error_says_what_to_install(module: str, missing: str, extra: str) -> None:
    program = (
        f"import sys\nsys.modules[{missing!r}] = None\n"
        f"try:\n    import catbox_agents.{module}\nexcept ModuleNotFoundError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert f"pip install -e '.[{extra}]'" in done.stdout, done.stderr
