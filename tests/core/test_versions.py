"""Other libraries: one that is missing, and releases outside the range that was tested."""

from __future__ import annotations

import re
import warnings
from importlib import metadata

import pytest

from catbox_env.core import versions


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "_warned", set())


def said(package: str = "library") -> list[str]:
    """What is said of the release that is installed, where 2.9 and 2.10 were tested."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        versions.warn_untested(package, "2.9", "2.11")
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("found", ["2.9", "2.9.0", "2.9.17", "2.9.1rc2", "2.10.0.dev1"])
def test_nothing_is_said_of_a_tested_release(found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda package: found)
    assert said() == []


@pytest.mark.parametrize("found", ["2.8.9", "2.11.0", "3.0", "1.10", "unknown"])
def test_another_release_is_named_once_with_the_range(found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda package: found)
    [message] = said()
    assert re.search(rf"library {found} is installed.*from 2.9 up to, not including, 2.11.*pip", message)
    assert said() == []


def test_nothing_is_said_of_a_package_that_is_not_there() -> None:
    assert said("no_such_package_of_anybody") == []


def missing(module: str | None) -> ModuleNotFoundError:
    return versions.missing_extra(
        ModuleNotFoundError("no such module", name=module), "catbox", "sb3", "train"
    )


@pytest.mark.parametrize("module", ["no_such_package_of_anybody", "no_such_package_of_anybody.part"])
def test_a_missing_package_is_named_with_the_line_that_installs_it(module: str) -> None:
    error = missing(module)
    assert error.name == "no_such_package_of_anybody"
    assert str(error) == (
        "catbox needs no_such_package_of_anybody, which is not installed. "
        'Install the extras "sb3" and "train":  pip install "catbox-env[sb3,train]"'
    )


@pytest.mark.parametrize("module", ["numpy.no_such_module", "catbox_env.no_such_module", None])
def test_an_error_about_anything_but_a_missing_package_passes(module: str | None) -> None:
    with pytest.raises(ModuleNotFoundError, match=r"^no such module$"):
        missing(module)
