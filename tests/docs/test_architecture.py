"""The page about the architecture names folders, files, modules, classes and functions that exist.

Paths are relative to the repository, to a package or to the folder that holds it; NAME stands for each game.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGES = [path.parent for pattern in ("", "*/") for path in ROOT.glob(f"{pattern}catbox_*/__init__.py")]
BASES = [ROOT, *{package.parent for package in PACKAGES}, *PACKAGES]

BLOCKS = re.findall(r"^```\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
PROSE = re.sub(r"^```.*?^```$", "", PAGE, flags=re.DOTALL | re.MULTILINE)
#: The rows that say what is in a folder: the folders, and their contents.
ROWS = re.findall(
    r"^\| (.+?) \| (.+) \|$", PROSE.split("|---|---|\n")[1].split("\n\n")[0] + "\n", re.MULTILINE
)
#: Lines of blocks that follow a call: what is called, and in which module.
CALLS = [line for block in BLOCKS if "▶" not in block for line in block.splitlines()]
CALL = re.compile(r" +(?:catbox )?([\w.]+(?:, \w+)*) {2,}([\w/]+)(?: {2,}\S.*)?")
FILE = re.compile(r"[\w.]+\.(?:json|md|py|toml|yaml)")


def quoted(text: str) -> list[str]:
    """What is between backticks, without arguments."""
    return [re.sub(r"\(.*\)$", "", name) for name in re.findall(r"`([^`]+)`", text)]


def is_path(text: str) -> bool:
    return "/" in text or FILE.fullmatch(text) is not None


def found(text: str, folders: list[Path]) -> list[Path]:
    """The files and folders that a path means; none, unless all games have what it names of NAME."""
    head, games, tail = text.rstrip("/").partition("NAME/")
    if games:
        owners = [path.parent for folder in folders for path in folder.glob(f"{head}*/__init__.py")]
        places = [found(tail, [owner]) for owner in owners]
        return [path for place in places for path in place] if all(places) else []
    pattern = head.replace("NAME", "*")
    paths = [path for folder in folders for end in ("", ".py") for path in folder.glob(pattern + end)]
    return [path for path in paths if not is_left_over(path) and (path.is_dir() or not text.endswith("/"))]


def is_left_over(path: Path) -> bool:
    """Whether it is a folder of deleted code, in which there is nothing but what Python compiled."""
    return path.is_dir() and not any(one.is_file() and one.suffix != ".pyc" for one in path.rglob("*"))


@cache
def definitions(path: Path) -> set[str]:
    """The functions and classes in a module, or in the modules of a package; in classes also as ``Class.name``."""
    if path.is_dir():
        return set().union(*map(definitions, path.glob("*.py")))
    names, kinds = set(), (ast.FunctionDef, ast.ClassDef)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, kinds):
            names |= {node.name, f"{path.stem}.{node.name}"}
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{inner.name}" for inner in ast.walk(node) if isinstance(inner, kinds)}
    return names


@cache
def all_definitions() -> set[str]:
    """Those of all packages, and the names of their modules."""
    modules = [path for package in PACKAGES for path in package.rglob("*.py")]
    names = set().union(*map(definitions, modules))
    return names | {path.parent.name if path.stem == "__init__" else path.stem for path in modules}


def can_be_imported(name: str) -> bool:
    """Whether a dotted name is a module, or in one."""
    module, _, attribute = name.rpartition(".")
    try:
        return importlib.util.find_spec(name) is not None or hasattr(
            importlib.import_module(module), attribute
        )
    except ModuleNotFoundError:
        return bool(module) and "." in module and can_be_imported(module)


def test_every_path_exists() -> None:
    named = {name for name in quoted(PROSE) if is_path(name) and not name.startswith("...")}
    named |= {path for block in BLOCKS for path in re.findall(r"(?:[\w.]+/)+\w*", block)}
    own = {name for _, contents in ROWS for name in quoted(contents)}  # relative to the folder of their row
    assert len(named) > 40
    wrong = sorted(name for name in named - own if not found(name, BASES))
    assert not wrong, wrong


def test_folders_contain_what_their_row_names() -> None:
    assert len(ROWS) > 10
    wrong, above = [], ROOT
    for folder_names, contents in ROWS:
        folders = []
        for name in quoted(folder_names):
            places = found(name.removeprefix(".../"), [above] if name.startswith(".../") else [ROOT])
            folders += places
            wrong += [] if places else [name]
        if "..." not in folder_names and folders:
            above = folders[0]
        inner = [path for name in quoted(contents) if name.endswith("/") for path in found(name, folders)]
        wrong += [f"{folder_names}: {name}" for name in quoted(contents) if not holds(folders, inner, name)]
    assert not wrong, wrong


def holds(folders: list[Path], inner: list[Path], name: str) -> bool:
    """Whether all ``folders`` have a file, folder or module ``name``, or one of those ``inner`` has, or it is a name of
    the package that is one of ``folders``."""
    if folders and all(found(name, [folder]) for folder in folders):
        return True
    if is_path(name):
        return False
    return bool(found(name, inner)) or any(
        folder in PACKAGES and can_be_imported(f"{folder.name}.{name}") for folder in folders
    )


def test_every_other_name_is_a_module_a_class_or_a_function() -> None:
    of_folders = {name for row in ROWS for cell in row for name in quoted(cell)}
    named = {name for name in quoted(PROSE) if not is_path(name)} - of_folders
    named |= set(re.findall(r"catbox_\w+(?:\.\w+)+", PAGE))
    assert len(named) > 10
    others = named - all_definitions() - {package.name for package in PACKAGES}
    wrong = sorted(name for name in others if "." not in name or not can_be_imported(name))
    assert not wrong, wrong


def test_calls_are_where_the_page_says() -> None:
    wrong = []
    for line in CALLS:
        call = CALL.fullmatch(line)
        assert call, line
        modules = found(call[2], BASES)
        wrong += [
            f"{name} in {call[2]}"
            for name in call[1].split(", ")
            if not modules or not all(name in definitions(module) for module in modules)
        ]
    assert len(CALLS) > 25
    assert not wrong, wrong
