"""Compiled code is cached where possible; without a cache, or with a damaged one, everything still runs."""

import ast
import dataclasses
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from catbox_env.games.petrify.game import KERNELS, Petrify

ROOT = Path(__file__).resolve().parents[2]
#: Prints how often it is told of compiling, the number of warnings about the cache, how many of two functions were
#: compiled, and the warnings.
TWO_FUNCTIONS = """
    import warnings
    import numpy as np
    from catbox_env.core import rng
    from catbox_env.core.compilation import tell_of_compiling
    calls = []
    tell_of_compiling(lambda: calls.append(1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        generators = rng.split_generators(rng.new_generators([rng.seed_sequence(0)]), np.array([2]))
        assert generators["a"].tolist() == [389198737, 703220672]
    told = [str(warning.message) for warning in caught if "NUMBA_CACHE_DIR" in str(warning.message)]
    misses = sum(sum(function.stats.cache_misses.values()) for function in (rng._warm_up, rng._split_each))
    print(len(calls), len(told), misses, *told)
"""


def python(code: str, cache: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0"}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def result(process: subprocess.Popen[str]) -> list[str]:
    output, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors
    return output.split(maxsplit=3)


def test_without_a_folder_for_it_code_is_compiled_with_one_warning(tmp_path: Path) -> None:
    no_folder = """
        import tempfile
        def refuse(*arguments, **options):
            raise PermissionError("no folder can be written")
        tempfile.TemporaryFile = refuse
    """
    told = result(python(textwrap.dedent(no_folder) + textwrap.dedent(TWO_FUNCTIONS), tmp_path / "none"))
    assert told[:2] == ["1", "1"]
    assert "compiled code is not cached on disk" in told[3]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows says otherwise where a user's files are")
def test_code_is_kept_in_the_users_cache_and_not_beside_the_package(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": f"{tmp_path}", "XDG_CACHE_HOME": f"{tmp_path / 'cache'}"}
    environment = {name: value for name, value in environment.items() if name != "NUMBA_CACHE_DIR"}

    def output(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert output("-c", textwrap.dedent(TWO_FUNCTIONS)).split() == ["1", "0", "2"]
    folder = Path(output("-m", "catbox_app", "compile", "--where").strip())
    assert folder.name == "catbox"
    assert len(list(folder.rglob("*.nbc"))) == len(list(tmp_path.rglob("*.nbc"))) == 2
    assert output("-c", textwrap.dedent(TWO_FUNCTIONS)).split() == ["0", "0", "0"]


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of file sizes there")
def test_with_a_full_disk_code_is_compiled_with_one_warning(tmp_path: Path) -> None:
    full = """
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    """
    told = result(python(textwrap.dedent(full) + textwrap.dedent(TWO_FUNCTIONS), tmp_path))
    assert told[:2] == ["1", "1"]
    assert f"{tmp_path}" in told[3]
    assert "is not writable" in told[3]


@pytest.mark.faults
def test_processes_that_start_together_compile_once_and_damage_is_compiled_anew(tmp_path: Path) -> None:
    together = [result(process) for process in [python(TWO_FUNCTIONS, tmp_path) for _ in range(3)]]
    assert all(words[1] == "0" for words in together)
    assert sum(int(words[2]) for words in together) == 2, "two functions, each compiled by one process"

    files = sorted(path for path in tmp_path.rglob("*.nb[ic]"))
    assert len(files) == 4
    damages = [
        lambda content: content[: len(content) // 2],
        lambda content: bytes([*content[: len(content) // 2], *[255] * 8, *content[len(content) // 2 + 8 :]]),
        lambda content: b"",
    ]
    for number, path in enumerate(files):
        path.write_bytes(damages[number % 3](path.read_bytes()))
    assert result(python(TWO_FUNCTIONS, tmp_path)) == ["1", "0", "2"]
    assert result(python(TWO_FUNCTIONS, tmp_path)) == ["0", "0", "0"]


EVERYTHING = """
    import numpy as np
    import catbox_env
    from catbox_agents.gymnasium import LearnerEnv, LearnerVectorEnv
    from catbox_env.adapters.aec import AECGame
    vec = catbox_env.make_vec("petrify_v0", 4, seed=0, num_threads=2, state=True, history=True)
    vec.step_random(3, seed=0)
    vec.step(vec.action_mask.argmax(axis=1))
    vec.step(vec.action_mask[:2].argmax(axis=1), np.arange(2))
    vec.observe(np.zeros(4, np.int64))
    vec.load(vec.save())
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
    process = python(EVERYTHING, tmp_path / "cache")
    _, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors
    assert {path.name for path in tmp_path.rglob("*.nbc")} == compiled


class Renamed(Petrify):
    id = "renamed"


class PlayedByOtherKernels(Petrify):
    kernels = dataclasses.replace(KERNELS, write_mask=KERNELS.apply)


def test_games_share_their_compiled_code_if_their_kernels_are_the_same() -> None:
    loops = Petrify(size=3).loops
    assert Renamed(size=4).loops is loops
    assert PlayedByOtherKernels(size=3).loops.apply_if_legal is not loops.apply_if_legal


MAKES_RECORDS = re.compile(r"np\.(empty|zeros|ones|full|array)\(.*, (dtype=)?(?!np\.|dtype=np\.)[\w.]+\)$")


def records_without_their_array(source: str) -> list[str]:
    """What compiled functions take out of an array of records that they made, and keep: Numba frees the array after
    its last use, also where a record of it is still used."""
    found = []
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef) and "njit" in " ".join(
            map(ast.unparse, function.decorator_list)
        ):
            steps = [
                step
                for step in ast.walk(function)
                if isinstance(step, ast.Assign | ast.Return) and step.value
            ]
            made = {
                ast.unparse(step.targets[0])
                for step in steps
                if isinstance(step, ast.Assign) and MAKES_RECORDS.match(ast.unparse(step.value))
            }
            taken = [step for step in steps if isinstance(step.value, ast.Subscript)]
            arrays = [ast.unparse(step.value.value) for step in taken]
            found += [
                ast.unparse(step)
                for step, array in zip(taken, arrays, strict=True)
                if array in made or MAKES_RECORDS.match(array)
            ]
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
