"""Imports between the files of a package, and between the folders of ``catbox_env``, go one way."""

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest

#: Packages, and whether imports for the type checker alone do not count. Imports inside of functions always do.
PACKAGES = [("catbox_env", False), ("catbox_agents", True), ("catbox_app", True)]


def imports_of(package: str, exclude_types: bool) -> dict[str, set[str]]:
    graph = grimp.build_graph(package, exclude_type_checking_imports=exclude_types, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def check_one_way(imports: dict[str, set[str]]) -> None:
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(f"these import one another: {' <- '.join(error.args[1])}")


@pytest.mark.parametrize(("package", "exclude_types"), PACKAGES)
def test_no_circle_of_imports_between_files(package: str, exclude_types: bool) -> None:
    imports = imports_of(package, exclude_types)
    assert sum(map(len, imports.values())) > 50
    check_one_way(imports)


def folder_of(module: str) -> str:
    """``core``, ``adapters``, ``pictures`` or ``games.NAME``; of a file beside these its own name."""
    _, folder, name, *_ = [*module.split("."), "", "", ""]
    return f"games.{name}" if folder == "games" else folder


def test_no_circle_of_imports_between_folders_and_core_knows_no_game() -> None:
    folders: dict[str, set[str]] = {}
    for module, imported in imports_of("catbox_env", False).items():
        folders.setdefault(folder_of(module), set()).update(map(folder_of, imported))
    for name, imported in folders.items():
        imported.discard(name)
    assert folders["core"] == set()
    assert folders["games.cat_in_the_box"] == {"core", "games.card_draws", "games.standings"}
    assert folders["adapters"] <= {"core", "pictures", "registry"}
    check_one_way(folders)
