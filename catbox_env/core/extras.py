"""Messages about missing libraries: what to install."""

from __future__ import annotations

import importlib.util
from pathlib import Path

#: The folder that the packages lie in: of a clone, unless they were copied into an environment.
FOLDER = Path(__file__).resolve().parents[2]


def install_line(*extras: str) -> str:
    """How to install ``extras`` of catbox: ``Install the extra "train", in your clone:  pip install -e '.[train]'``.

    Outside a clone, pip finds the extras of the installed package by its name, without asking an index for it.
    """
    listed = " and ".join(f'"{extra}"' for extra in extras)
    in_clone = (FOLDER / "pyproject.toml").is_file()
    what = f"-e '.[{','.join(extras)}]'" if in_clone else f"'catbox-env[{','.join(extras)}]'"
    return f"Install the extra{'s' * (len(extras) > 1)} {listed}{', in your clone' * in_clone}:  pip install {what}"


def missing_extra(error: ModuleNotFoundError, user: str, *extras: str) -> ModuleNotFoundError:
    """Like `missing_package`, for a package that ``extras`` install."""
    return missing_package(error, user, install_line(*extras))


def missing_package(error: ModuleNotFoundError, user: str, remedy: str) -> ModuleNotFoundError:
    """The error that says which package ``user`` needs, and what to do about it.

    Raises ``error`` itself if the package is installed but lacks a module.
    """
    package = (error.name or "").partition(".")[0]
    if not package or importlib.util.find_spec(package) is not None:
        raise error
    return ModuleNotFoundError(f"{user} needs {package}, which is not installed. {remedy}", name=package)
