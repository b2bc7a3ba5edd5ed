"""Imports between the files of a package, and between the folders of ``catbox_env``, go one way, however written."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

import catbox_agents
import catbox_app
import catbox_env


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
    imports = imports_of(Path(catbox_env.__file__).parent)
    assert {"catbox_env.games.cat_te.game", "catbox_env.pictures.cat_te"} <= imports["catbox_env.registry"]
    assert "catbox_env.core.vec" in imports["catbox_env"], "for annotations"
    assert "catbox_env.adapters.aec" in imports["catbox_env.registration"], "by name"
    check_one_way(imports)


@pytest.mark.parametrize("package", [catbox_agents, catbox_app])
def test_no_circle_of_imports_between_files_of_other_packages(package: object) -> None:
    graph = grimp.build_graph(package.__name__, exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert sum(map(len, imports.values())) > 50
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
    for module, imported in imports_of(Path(catbox_env.__file__).parent).items():
        folders.setdefault(folder_of(module), set()).update(map(folder_of, imported))
    for name, imported in folders.items():
        imported.discard(name)
    assert folders["core"] == set()
    assert folders["games.cat_in_the_box"] == {"core", "games.card_draws", "games.standings"}
    assert folders["adapters"] <= {"core", "pictures", "registry"}
    check_one_way(folders)


def test_an_import_inside_a_function_says_why_it_is_there() -> None:
    found = 0
    for path in Path(catbox_env.__file__).parent.rglob("*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        for node in ast.walk(ast.parse("\n".join(lines))):
            for inner in ast.walk(node) if isinstance(node, ast.FunctionDef) else ():
                if isinstance(inner, ast.Import | ast.ImportFrom):
                    found += 1
                    near = lines[inner.lineno - 1] + lines[inner.lineno - 2]
                    assert ("  # " in near and "# type:" not in near) or near.endswith("try:"), (
                        f"{path}:{inner.lineno}"
                    )
    assert found > 5
