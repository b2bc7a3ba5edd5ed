"""Pictures are drawn whatever MPLBACKEND is: it is about windows, and a picture ends hours of games."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from catbox_agents.arena.plots import drawing, heat_map
from catbox_agents.arena.results import Estimate

ROOT = Path(__file__).parents[2]
DRAWING = """
import sys
from catbox_agents.arena.plots import Estimate, drawing, heat_map

with drawing():
    heat_map("title", ["one"], ["two"], [[Estimate(1, 0, 2)]]).savefig(sys.argv[1])
import matplotlib, os
print(dict.__getitem__(matplotlib.rcParams, "backend"), os.environ["MPLBACKEND"])
"""


@pytest.mark.parametrize(("backend", "known"), [("nope", False), ("svg", True)])
def test_an_unknown_backend_is_named_and_the_picture_drawn(backend: str, known: bool, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", DRAWING, tmp_path / "picture.png"],
        env={**os.environ, "MPLBACKEND": backend, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert ("MPLBACKEND=nope: expected a backend" in ran.stderr) != known
    used, variable = ran.stdout.rsplit(maxsplit=1)
    assert (used == backend) == known
    assert variable == backend


@pytest.mark.parametrize("weight", ["regular", "bold"])
def test_the_font_of_the_table_is_used_and_has_every_sign_of_numbers(weight: str) -> None:
    from matplotlib import font_manager

    with drawing():
        used = font_manager.findfont(font_manager.FontProperties(weight=weight), fallback_to_default=False)
    assert Path(used).name == f"Figtree-{weight.title()}.ttf"
    assert set(map(ord, "0123456789%+\u2212±\u2013")) <= font_manager.get_font(used).get_charmap().keys()


@pytest.mark.parametrize(
    ("cells", "key"),
    [
        ([Estimate(2, 1, 3), Estimate(1, 0.5, 2)], {"0", "+2"}),
        ([Estimate(2, 1, 3), Estimate(-1, -2, -0.5)], {"\u22122", "0", "+2"}),
        ([Estimate(2, 1, 3), Estimate(-1, -2, 1)], {"0", "+2", "not certain"}),
    ],
)
def test_the_key_of_a_heat_map_shows_what_occurs(cells: list[Estimate], key: set[str]) -> None:
    with drawing():
        axes = heat_map("title", ["one"], ["two", "three"], [cells]).axes[0]
    below = (
        max(text.get_position()[1] for text in axes.texts if text.get_text() in ("one", "two", "three")) + 24
    )
    assert {text.get_text() for text in axes.texts if text.get_position()[1] > below} == key


def test_every_picture_is_drawn_so() -> None:
    for folder in ("agents", "app", "train"):
        for file in (ROOT / folder).rglob("*.py"):
            text = file.read_text("utf-8")
            assert file.name == "plots.py" or "import matplotlib" not in text, file
            assert not re.search("^(from|import) matplotlib", text, re.MULTILINE), file
