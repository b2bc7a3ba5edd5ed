"""Imports between the files of a package, and between the folders of ``catbox_env``, go one way, however written."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TypeGuard

import pytest

import catbox_agents
import catbox_app
import catbox_env
import catbox_train

ENV, AGENTS, TRAIN, APP = PACKAGES = [
    Path(str(package.__file__)).parent for package in (catbox_env, catbox_agents, catbox_train, catbox_app)
]


def modules_of(package: Path) -> dict[str, Path]:
    """The modules of a package by name."""
    files = {path.relative_to(package.parent).with_suffix(""): path for path in package.rglob("*.py")}
    return {".".join(name.parts).removesuffix(".__init__"): path for name, path in files.items()}


def imports_of(package: Path) -> dict[str, set[str]]:
    """What each module of a package imports of it: at the top, in functions, for annotations, and by name.

    By name: text that is a module's name, alone or before a colon, or an f-string that begins so (all that fit count).
    Docstrings do not count.
    """
    modules, found = modules_of(package), dict[str, set[str]]()
    for name, path in modules.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        named: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, f"{path}: a relative import"
                submodules = {f"{node.module}.{alias.name}" for alias in node.names} & set(modules)
                named |= submodules or {str(node.module)}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                named.add(node.value.partition(":")[0])
            elif isinstance(node, ast.JoinedStr):
                first = node.values[0].value if isinstance(node.values[0], ast.Constant) else ""
                fits = re.compile(rf"{re.escape(str(first))}\w+").fullmatch
                named |= {other for other in modules if first and fits(other)}
        found[name] = (named & set(modules)) - {name}
    return found


def check_one_way(imports: dict[str, set[str]]) -> None:
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(f"these import one another: {' <- '.join(error.args[1])}")


def test_no_circle_between_files_of_the_environment_however_an_import_is_written() -> None:
    imports = imports_of(ENV)
    assert {"catbox_env.games.cat_te.game", "catbox_env.pictures.cat_te"} <= imports["catbox_env.registry"]
    assert "catbox_env.core.vec" in imports["catbox_env"], "for annotations"
    assert "catbox_env.adapters.aec" in imports["catbox_env.registration"], "by name"
    check_one_way(imports)


def test_no_circle_between_files_of_the_other_packages_however_an_import_is_written() -> None:
    agents, train, app = map(imports_of, (AGENTS, TRAIN, APP))
    assert "catbox_agents.text.llm_agent" in agents["catbox_agents.settings"], "by name"
    agents["catbox_agents.settings"].clear()  # it names agents that make others
    assert "catbox_agents.arena.ray_workers" in agents["catbox_agents.arena.run"], "in a function"
    assert "catbox_train.ppo" in train["catbox_train.registry"], "by name"
    assert "catbox_app.commands.play" in app["catbox_app.cli"]
    for imports in (agents, train, app):
        check_one_way(imports)


def test_a_circle_is_found_however_an_import_is_written(tmp_path: Path) -> None:
    for number, back in enumerate(
        [
            "import odd.one",
            "def f():\n    from odd import one",
            'f("odd.one:Name")',
            'name = "one"\nf(f"odd.{name}")',
        ]
    ):
        package = tmp_path / str(number) / "odd"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "one.py").write_text('"""odd.two"""\nfrom odd.two import x\n')
        (package / "two.py").write_text(back)
        with pytest.raises(pytest.fail.Exception, match=r"these import one another: odd\.\w+ <- odd\."):
            check_one_way(imports_of(package))


def folder_of(module: str) -> str:
    """``core``, ``adapters``, ``pictures`` or ``games.NAME``; of a file beside these its own name."""
    _, folder, name, *_ = [*module.split("."), "", "", ""]
    return f"games.{name}" if folder == "games" else folder


def test_no_circle_of_imports_between_folders_and_core_knows_no_game() -> None:
    folders: dict[str, set[str]] = {}
    for module, imported in imports_of(ENV).items():
        folders.setdefault(folder_of(module), set()).update(map(folder_of, imported))
    for name, imported in folders.items():
        imported.discard(name)
    assert folders["core"] == set()
    assert folders["games.cat_in_the_box"] == {"core", "games.card_draws", "games.standings"}
    assert folders["adapters"] <= {"core", "pictures", "registry"}
    check_one_way(folders)


def test_imports_inside_a_function_say_why_they_are_there() -> None:
    """In a comment on the first of them, or on the line before; or by what to do if the library is not installed."""
    found = 0
    for path in (path for package in PACKAGES for path in package.rglob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        tree = ast.parse("\n".join(lines))
        functions = (
            node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        )
        inside = {inner.lineno: inner for node in functions for inner in ast.walk(node) if is_import(inner)}
        ends = {node.end_lineno for node in inside.values()}
        for line in inside:
            if line - 1 not in ends:  # the first of them
                found += 1
                near = lines[line - 1] + lines[line - 2]
                assert ("# " in near and "# type:" not in near) or near.endswith("try:"), f"{path}:{line}"
    assert found > 50


def is_import(node: ast.AST) -> TypeGuard[ast.Import | ast.ImportFrom]:
    return isinstance(node, ast.Import | ast.ImportFrom)
