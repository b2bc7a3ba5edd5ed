"""What is said of a library that is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from catbox_env.core import extras


def missing(module: str | None) -> ModuleNotFoundError:
    return extras.missing_extra(ModuleNotFoundError("no such module", name=module), "catbox", "sb3", "train")


@pytest.mark.parametrize("module", ["no_such_package_of_anybody", "no_such_package_of_anybody.part"])
def test_a_missing_package_is_named_with_the_line_that_installs_it(module: str) -> None:
    error = missing(module)
    assert error.name == "no_such_package_of_anybody"
    assert str(error) == (
        "catbox needs no_such_package_of_anybody, which is not installed. "
        """Install the extras "sb3" and "train", in your clone:  pip install -e '.[sb3,train]'"""
    )


def test_outside_a_clone_the_installed_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "FOLDER", tmp_path)
    assert extras.install_line("gpu") == """Install the extra "gpu":  pip install 'catbox-env[gpu]'"""


@pytest.mark.parametrize("module", ["numpy.no_such_module", "catbox_env.no_such_module", None])
def test_an_error_about_anything_but_a_missing_package_passes(module: str | None) -> None:
    with pytest.raises(ModuleNotFoundError, match=r"^no such module$"):
        missing(module)
