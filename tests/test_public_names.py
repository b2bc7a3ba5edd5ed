"""What is public is written down, importable, and enough for users; imports named in strings point one way too."""

from __future__ import annotations

import ast
import importlib
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("catbox_env", "catbox_agents", "catbox_train")
#: From the bottom to the top: a package imports only those before it.
LAYERS = ("catbox_env", "catbox_agents", "catbox_train", "catbox_app")
FOLDERS = ("catbox_env", "agents/catbox_agents", "train/catbox_train", "app/catbox_app")

#: Registries: modules that name, in strings, modules that they may not import.
REGISTRIES = {
    "catbox_env.core.registry": "catbox_env.games",
    # Gymnasium imports the entry point when an environment is made.
    "catbox_env.registration": "catbox_agents.gymnasium",
}


def public_names() -> dict[str, set[str]]:
    """The names that docs/api.md lists, by package."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    section = re.search(r"^## Public names\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)[1]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE)
    return {package: set(re.findall(r"`(\w+)`", names)) for package, names in rows}


@pytest.mark.parametrize("package", PACKAGES)
def test_the_list_of_public_names_is_the_one_in_the_docs(package: str) -> None:
    module = importlib.import_module(package)
    modules = set(module.GAMES) if package == "catbox_env" else set()
    assert public_names()[package] == (set(module.__all__) | modules) - {"__version__"}
    for name in public_names()[package]:
        assert getattr(module, name) is getattr(module, name)
        assert name in dir(module)


def test_an_unknown_name_is_an_attribute_error() -> None:
    for package in PACKAGES:
        with pytest.raises(AttributeError, match="no attribute 'Gmae'"):
            _ = importlib.import_module(package).Gmae


def examples() -> dict[str, str]:
    """The code in pages and notebooks for users. The page about adding a game is for those who extend the core."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = {page.name: page.read_text(encoding="utf-8") for page in pages if page.name != "new_game.md"}
    blocks = {name: "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
              for name, text in shown.items()}  # fmt: skip
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        blocks[notebook.name] = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    return blocks


def test_examples_for_users_import_public_names_alone() -> None:
    code = examples()
    assert "make_game" in "".join(code.values())
    for name, text in code.items():
        assert not re.findall(r"catbox_\w+\.(?:core|games|adapters|runs|algorithms)\b", text), name


def named_in_strings() -> list[tuple[str, str]]:
    """Every ``"package.module:name"`` of ours in the sources: (the module that says it, what it says)."""
    found = []
    for folder in FOLDERS:
        root = (ROOT / folder).parent
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    spec = re.fullmatch(r"(catbox_\w+(?:\.\w+)*):\w+", node.value)
                    found += [(module, node.value)] if spec else []
    return found


def test_imports_named_in_strings_exist_and_point_one_way() -> None:
    found = named_in_strings()
    assert {module for module, _ in found} >= {*REGISTRIES, "catbox_agents.heuristics", "catbox_agents.specs"}
    for module, spec in found:
        target, name = spec.split(":")
        assert hasattr(importlib.import_module(target), name), spec
        if module in REGISTRIES:
            assert target.startswith(REGISTRIES[module]), f"{module} names {spec}"
        else:
            above = LAYERS.index(target.split(".")[0]) > LAYERS.index(module.split(".")[0])
            assert not above, f"{module} names {spec}, which stands above it"
