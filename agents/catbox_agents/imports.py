"""Code of a user's own that a text names: ``"package.module:Class"``, and ``"package.module@PATH"`` for a policy whose
network or features that module, or a module of that package, defines.

To name a module is to run its code, so only texts that the user has written are taken here.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import os
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from catbox_env.core.checks import short_repr, suggestion


def is_class(text: str) -> bool:
    """Whether ``text`` has the form ``package.module:Class``."""
    module, _, name = text.partition(":")
    return all(part.isidentifier() for part in [*module.split("."), name])


def with_code(path: str | os.PathLike[str], code: Iterable[str]) -> str:
    """The spec of the policy at ``path`` that needs ``code``, each ``package.module:Name``: ``package.module@PATH``."""
    modules = dict.fromkeys(name.partition(":")[0] for name in code)
    return f"{'+'.join(modules)}@{os.fspath(path)}" if modules else os.fspath(path)


def import_name(spec: str, what: str, kind: type = object) -> Any:
    """What ``spec``, ``"package.module:Name"``, names, of a ``kind``; ``what`` it is, such as ``"agent"``, for errors.

    Importing the module runs its code. Raises ``ValueError`` if there is no such module or name in it.
    """
    module_name, name = spec.strip().split(":")
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if not is_missing(module_name, error):
            raise  # the user's module exists and cannot import another: the traceback shows where
        raise ValueError(
            f"{what} {short_repr(spec)} does not exist (there is no module {error.name!r} to import: it is neither "
            "installed nor in the working directory)"
        ) from None
    except SyntaxError as error:
        raise ValueError(f"module {module_name!r} is not valid Python: {error}") from None
    names = [known for known, value in vars(module).items() if isinstance(value, kind)]
    if name not in names:
        noun = "class " if kind is type else ""
        raise ValueError(f"module {module_name!r} has no {noun}{name!r}{suggestion(name, names)}")
    return getattr(module, name)


def import_module(name: str) -> ModuleType:
    """The module ``name``: an installed one, else one in the working directory.

    The directory is appended to ``sys.path`` only if the module is there. So its files never shadow an installed
    library, and none of them runs unless a module is named.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        here = os.getcwd()
        top = name.partition(".")[0]
        found = is_missing(name, error) and importlib.machinery.PathFinder.find_spec(top, [here])
        if not found or here in sys.path:
            raise
        sys.path.append(here)
    return importlib.import_module(name)


def is_missing(name: str, error: ModuleNotFoundError) -> bool:
    """Whether the module that was not found is ``name`` itself, or a package that contains it."""
    return error.name is not None and (name + ".").startswith(error.name + ".")
