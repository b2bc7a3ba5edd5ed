"""What is compiled when, and what compiled code must not do."""

import ast
import dataclasses
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from catbox_env import make_game
from catbox_env.games.petrify.game import Petrify

ROOT = Path(__file__).resolve().parents[2]
EVERYTHING = """
    import numpy as np
    import catbox_env
    from catbox_agents.learners.gymnasium import LearnerEnv, LearnerVectorEnv
    from catbox_env.adapters.aec import AECGame
    vec = catbox_env.make_vec("petrify_v0", 4, seed=0, num_threads=2, state=True, history=True)
    vec.step_random(3, seed=0)
    vec.step(vec.action_mask.argmax(axis=1))
    vec.step(vec.action_mask[:2].argmax(axis=1), np.arange(2))
    vec.observe(np.zeros(4, np.int64))
    state = vec.game.new_initial_state(seed=0)
    seen = state.observation(0)
    seen.setflags(write=False)
    vec.game.sample_states(seen, 4)
    vec.set_states(state)
    state.clone().apply_action(state.legal_actions()[0])
    state.state_vector(), state.history_observation(1)
    env = AECGame("petrify_v0", history=True)
    env.reset(seed=0)
    env.step(int(env.last()[0]["action_mask"].argmax()))
    LearnerEnv("petrify_v0", opponents="heuristic").reset(seed=0)
    envs = LearnerVectorEnv(4, "petrify_v0", opponents="random", learner_seat="random")
    envs.step(envs.reset(seed=0)[1]["action_mask"].argmax(axis=1))
    env = LearnerEnv("petrify_v0", opponents={"any_of": ["random", "heuristic"]}, illegal_action="random_legal")
    env.step(int(env.reset(seed=0)[1]["action_mask"].argmin()))
"""


@pytest.mark.slow
def test_after_catbox_compile_nothing_is_left_to_compile(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-m", "catbox_app", "compile", "--game", "petrify_v0"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"Compiled code is cached in {tmp_path / 'cache'}" in done.stdout
    compiled = {path.name for path in tmp_path.rglob("*.nbc")}
    assert len(compiled) >= 15
    command = [sys.executable, "-c", textwrap.dedent(EVERYTHING)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.rglob("*.nbc")} == compiled


@pytest.mark.slow
def test_players_that_share_kernels_compile_without_a_warning(tmp_path: Path) -> None:
    """The weights of the careful player begin with those of the heuristic, whose kernels are compiled first."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    command = [
        sys.executable,
        "-m",
        "catbox_app",
        "evaluate",
        "heuristic",
        "careful",
        "--players",
        "3",
        "-n",
        "10",
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr


class Renamed(Petrify):
    id = "renamed"


class PlayedByOtherKernels(Petrify):
    kernels = dataclasses.replace(Petrify.kernels, write_mask=Petrify.kernels.apply)


def test_games_share_their_compiled_code_if_their_kernels_are_the_same() -> None:
    loops = Petrify(size=3).loops
    assert Renamed(size=4).loops is loops
    assert PlayedByOtherKernels(size=3).loops.step_if_legal is not loops.step_if_legal


MAKES_RECORDS = re.compile(r"np\.(empty|zeros|ones|full|array)\(.*, (dtype=)?(?!np\.|dtype=np\.)[\w.]+\)$")


def records_without_their_array(source: str) -> list[str]:
    """Where a compiled function uses a record longer than the array of records that it made, and took it from: Numba
    frees the array after its last use, also where a record of it is still used."""
    found = []
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        if not any("njit" in ast.unparse(decorator) for decorator in function.decorator_list):
            continue
        last_use: dict[str, int] = {}
        for name in ast.walk(function):
            if isinstance(name, ast.Name):
                last_use[name.id] = max(name.lineno, last_use.get(name.id, 0))
        assigned = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
        made = [
            ast.unparse(node.targets[0]) for node in assigned if MAKES_RECORDS.match(ast.unparse(node.value))
        ]
        for step in ast.walk(function):
            if isinstance(step, ast.Assign | ast.Return) and isinstance(step.value, ast.Subscript):
                array = ast.unparse(step.value.value)
                kept = ast.unparse(step.targets[0]) if isinstance(step, ast.Assign) else ""
                outlives = last_use.get(array, 0) < last_use.get(kept, function.end_lineno or 0)
                if MAKES_RECORDS.match(array) or (array in made and outlives):
                    found.append(ast.unparse(step))
    return found


@pytest.mark.parametrize("kept", ["np.zeros(1, VIEW)[0]", "views[0]"])
def test_compiled_code_keeps_no_record_of_an_array_that_it_lets_go(kept: str) -> None:
    source = f"@njit\ndef fill(out):\n    views = np.zeros(1, VIEW)\n    view = {kept}\n    look(view)"
    assert records_without_their_array(source) == [f"view = {kept}"]
    sources = [
        path for package in ("catbox_env", "agents", "train") for path in (ROOT / package).rglob("*.py")
    ]
    assert len(sources) > 100
    assert [path for path in sources if records_without_their_array(path.read_text("utf-8"))] == []


def test_rules_of_a_game_share_one_dtype_because_numba_compares_dtypes_at_every_call() -> None:
    games = [
        make_game("cat_in_the_box_v0", num_players=players, rounds=rounds)
        for players in (2, 5)
        for rounds in (1, 2)
    ]
    assert len({id(game.params.dtype) for game in games}) == 1
