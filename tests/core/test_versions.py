"""Releases of other libraries outside the range that was tested."""

from __future__ import annotations

import warnings
from importlib import metadata

import pytest

from catbox_env.core import versions


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "_warned", set())


@pytest.mark.parametrize("found", ["2.9", "2.9.0", "2.9.17", "2.9.1rc2", "2.10.0.dev1"])
def test_nothing_is_said_of_a_tested_release(found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda package: found)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        versions.warn_untested("library", "2.9", "2.11")


@pytest.mark.parametrize("found", ["2.8.9", "2.11.0", "3.0", "1.10", "unknown"])
def test_another_release_is_named_once_with_the_range(found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda package: found)
    with pytest.warns(
        UserWarning, match=rf"library {found} is installed.*from 2.9 up to, not including, 2.11.*pip"
    ):
        versions.warn_untested("library", "2.9", "2.11")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        versions.warn_untested("library", "2.9", "2.11")


def test_a_package_that_is_not_there_is_no_matter() -> None:
    versions.warn_untested("no_such_package_of_anybody", "1", "2")
