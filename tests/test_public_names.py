"""What is public is written down, importable, and enough for users."""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

import catbox_env
from docs.build_site import public_names

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("catbox_env", "catbox_agents", "catbox_train")
#: From the bottom to the top: a package imports only those before it.
LAYERS = ("catbox_env", "catbox_agents", "catbox_train", "catbox_app")
FOLDERS = ("catbox_env", "agents/catbox_agents", "train/catbox_train", "app/catbox_app")

#: Public modules that need the extra ``ray``: tests/ray compares them with the list.
NEED_RAY = ("catbox_agents.learners.rllib", "catbox_train.ray")


def test_the_list_of_public_names_is_the_one_in_the_docs() -> None:
    apart = [
        "catbox_agents.bench",
        "catbox_agents.dataset",
        "catbox_agents.arena.exact",
        "catbox_agents.features",
        "catbox_agents.networks.inputs",
        "catbox_agents.sb3",
        "catbox_agents.text",
        "catbox_agents.transitions",
        "catbox_env.adapters.openspiel",
    ]
    modules = [
        *PACKAGES,
        *apart,
        *filter(find_spec, (f"catbox_env.{game_id}" for game_id in catbox_env.GAMES)),
    ]
    listed = public_names()
    assert set(listed) == {*modules, *NEED_RAY}
    for name in modules:
        module = importlib.import_module(name)
        games = set(catbox_env.GAMES) if module is catbox_env else set()
        assert set(listed[name]) == (set(module.__all__) | games) - {"__version__"}, name
        for public in listed[name]:
            assert getattr(module, public) is getattr(module, public)
            assert public in dir(module)


@pytest.mark.parametrize(("section", "shown", "most"), [
    ("Games and states", lambda game: game, 37),
    ("Games and states", lambda game: game.new_initial_state(seed=0), 18),
    ("Many games", lambda game: catbox_env.Vec(game, 1), 26),
])  # fmt: skip
def test_games_states_and_batches_show_few_names_and_the_docs_list_them_all(
    section: str, shown: Callable[[catbox_env.Game], object], most: int
) -> None:
    thing = shown(catbox_env.make_game("cat_in_the_box_v0"))
    names = {name for name in dir(thing) if not name.startswith("_")}
    assert len(names) <= most, sorted(names)
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    _, described = page.split(f"\n## {section}")
    listed = set(re.findall(r"`(\w+)[`(]", described.partition("\n## ")[0]))
    assert names <= listed, sorted(names - listed)


def test_an_unknown_name_is_an_attribute_error() -> None:
    for package in PACKAGES:
        with pytest.raises(AttributeError, match="no attribute 'Gmae'"):
            _ = importlib.import_module(package).Gmae


#: Pages for those who extend catbox: with a game, or with another place where a table is shown.
FOR_EXTENSIONS = ("new_game.md", "protocol.md")


def examples() -> dict[str, str]:
    """The code in pages, notebooks and programs for users."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = {page.name: page.read_text(encoding="utf-8") for page in pages if page.name not in FOR_EXTENSIONS}
    blocks = {name: "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
              for name, text in shown.items()}  # fmt: skip
    programs = sorted((ROOT / "examples").glob("*.py"))
    blocks |= {path.name: path.read_text(encoding="utf-8") for path in programs}
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        blocks[notebook.name] = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    return blocks


def names_of_ours(code: str) -> set[str]:
    """Every name of ours that ``code`` imports, or reaches through an import, such as ``catbox_env.Vec``."""
    tree, aliases, found = ast.parse(code), {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                found.add(name.name)
                top = name.name.partition(".")[0]
                aliases[name.asname or top] = name.name if name.asname else top
        elif isinstance(node, ast.ImportFrom):
            for name in node.names:
                found.add(f"{node.module}.{name.name}")
                aliases[name.asname or name.name] = f"{node.module}.{name.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            parts = ast.unparse(node).split(".")
            if parts[0] in aliases and all(part.isidentifier() for part in parts):
                found.add(".".join([aliases[parts[0]], *parts[1:]]))
    return {name for name in found if re.match(r"catbox_\w+(\.|$)", name)}


def is_public(name: str) -> bool:
    """Whether ``name`` is a public module or a public name of one, or belongs to such a name (``Rules.full``)."""
    listed = public_names()
    if any(
        f"{module}.".startswith(f"{name}.") for module in listed
    ):  # one of them, or a package that holds one
        return True
    module = max((m for m in listed if name.startswith(f"{m}.")), key=len, default=None)
    return module is not None and name.removeprefix(f"{module}.").partition(".")[0] in listed[module]


def test_examples_for_users_use_public_names_alone() -> None:
    used = {page: names_of_ours(code) for page, code in examples().items()}
    assert {"catbox_env.make_game", "catbox_agents.evaluate"} <= set.union(*used.values())
    for page, names in used.items():
        private = sorted(name for name in names if not is_public(name))
        assert not private, f"{page}: {private}"


def test_pages_for_users_name_public_modules_alone() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        if page.name not in ("new_game.md", "architecture.md"):
            named = set(
                re.findall(
                    r"(?<![/\w])catbox_(?:env|agents|train)(?:\.\w+)+", page.read_text(encoding="utf-8")
                )
            )
            private = {name for name in named if not is_public(name)}
            # docs/api.md names the core in order to call it private.
            assert private == ({"catbox_env.core"} if page.name == "api.md" else set()), page.name


def test_imports_named_in_strings_exist_and_point_one_way() -> None:
    """``"package.module:name"``: what a module names so is not seen by the import contracts."""
    found = []
    for level, folder in enumerate(FOLDERS):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for spec in re.findall(r'"(catbox_\w+(?:\.\w+)*:\w+)"', path.read_text(encoding="utf-8")):
                target, name = spec.split(":")
                found.append(target)
                assert hasattr(importlib.import_module(target), name), f"{path}: {spec}"
                above = LAYERS.index(target.partition(".")[0]) > level
                # Gymnasium imports the entry point when an environment is made.
                allowed = path.name == "registration.py" and target == "catbox_agents.learners.gymnasium"
                assert allowed or not above, f"{path} names {spec}, which stands above it"
    assert len(found) > 10
