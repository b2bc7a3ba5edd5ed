"""Imports between the files of a package go one way."""

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


@pytest.mark.parametrize("package", ["catbox_env", "catbox_agents", "catbox_app"])
def test_no_circle_of_imports_between_files(package: str) -> None:
    """Imports inside of functions count; those for the type checker alone do not."""
    graph = grimp.build_graph(package, exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert sum(map(len, imports.values())) > 100
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(f"these import one another: {' <- '.join(error.args[1])}")
