"""Without Numba, as in a browser, everything plays the same games after one warning."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from catbox_agents.networks.layer_kernels import _add_matrix_product, add_layer
from catbox_env.core.compilation import _PlainRecord
from catbox_env.core.kernels import record_dtype
from tests.whole_games import play_all

ROOT = Path(__file__).parents[1]

#: What Python in a browser does not have.
IN_A_BROWSER = ("numba", "gymnasium", "pettingzoo", "psutil", "filelock", "_multiprocessing", "_posixshmem")


def python_without(missing: tuple[str, ...], program: str) -> subprocess.CompletedProcess[str]:
    """A process in which none of the packages ``missing`` can be imported."""
    program = f"import sys\nsys.modules |= dict.fromkeys({missing!r})\n{textwrap.dedent(program)}"
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, cwd=ROOT
    )


@pytest.mark.slow
def test_whole_games_without_numba_are_those_of_compiled_code_after_one_warning() -> None:
    program = """
        import json, warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            from tests.whole_games import play_all
            played = play_all()
        print(json.dumps([[str(warning.message) for warning in caught], played]))
    """
    done = python_without(IN_A_BROWSER, program)
    assert done.returncode == 0, done.stderr
    warned, played = json.loads(done.stdout)
    assert len(warned) == 1, warned
    assert "catbox runs without Numba (" in warned[0]
    assert "pip install numba" in warned[0]
    assert played == play_all()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("catbox_env.petrify_v0.env()", "a PettingZoo environment needs pettingzoo, which is not installed"),
        ("catbox_env.petrify_v0.raw_env()", "pip install gymnasium pettingzoo"),
        (
            "import catbox_agents.learners.gymnasium",
            "learners.gymnasium needs gymnasium, which is not installed",
        ),
    ],
)
def test_an_environment_says_which_package_it_misses(asked: str, said: str) -> None:
    missing = "gymnasium" if "gymnasium" in asked else "pettingzoo"
    done = python_without((missing,), f"import catbox_env\ncatbox_env.petrify_v0.Rules.full()\n{asked}")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ModuleNotFoundError: ")
    assert said in done.stderr.splitlines()[-1]


def test_a_package_that_is_installed_and_broken_is_not_taken_for_a_missing_one(tmp_path: Path) -> None:
    (tmp_path / "pettingzoo.py").write_text("import something_else_that_is_missing")
    done = python_without((), f"sys.path.insert(0, {str(tmp_path)!r})\nimport catbox_env")
    assert done.returncode == 1
    assert "No module named 'something_else_that_is_missing'" in done.stderr


def test_catbox_compile_needs_numba() -> None:
    program = """
        sys.argv = ["catbox", "compile", "--game", "petrify_v0"]
        from catbox_app.__main__ import main
        main()
    """
    done = python_without(("numba",), program)
    assert done.returncode == 2
    assert "catbox compile needs Numba" in done.stderr


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("kind", [np.int8, np.float32])
def test_a_layer_that_is_not_compiled_gives_the_same_numbers(kind: type, relu: bool) -> None:
    rng = np.random.default_rng(0)
    inputs = rng.integers(-3, 4, (5, 40)).astype(kind)
    weights = rng.standard_normal((40, 24)).astype(np.float32)
    sums = rng.standard_normal((5, 24)).astype(np.float32)
    sums[2, 3] = np.nan
    plain, compiled = sums.copy(), sums.copy()
    assert _add_matrix_product(inputs, weights, plain, relu)
    assert add_layer(inputs, weights, compiled, relu)
    np.testing.assert_allclose(plain, compiled, rtol=1e-5, atol=1e-5)
    assert np.isnan(plain[2, 3])
    assert (plain[~np.isnan(plain)] < 0).any() == (not relu)
    one = sums[4:].copy()
    _add_matrix_product(inputs[4:], weights, one, relu)
    np.testing.assert_array_equal(one[0], plain[4])


def test_fields_of_a_record_that_is_not_compiled_are_its_attributes() -> None:
    fields = [("seat", np.int8), ("cells", np.int32, (3,))]
    records = np.zeros(2, np.dtype((_PlainRecord, record_dtype(fields))))
    record = records[1]
    record.seat = -3
    record.cells[2] = 9
    assert (record.seat, type(record.seat)) == (-3, np.int8)
    assert records["cells"].tolist() == [[0, 0, 0], [0, 0, 9]]
    with pytest.raises(AttributeError, match="trick"):
        record.trick  # noqa: B018
