"""Pictures of margins: what is certain has a colour, and the colours suit a light and a dark page."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb

from catbox_agents.arena.plots import LINE, LINES, tint
from catbox_agents.arena.results import Estimate
from docs.generators.margin_figures import Bar, HeatMap, bars
from docs.generators.quick_run import quick_run_pictures
from experiments.results import Folders

SURE, UNSURE, LOSS = Estimate(1.0, 0.5, 1.5), Estimate(0.2, -0.3, 0.7), Estimate(-1.0, -1.5, -0.5)


def test_a_cell_is_blue_orange_or_grey_and_paler_for_less() -> None:
    red, green, blue = to_rgb(tint(SURE, 1.0))
    assert blue > green > red
    red, green, blue = to_rgb(tint(LOSS, 1.0))
    assert red > green > blue
    red, green, blue = to_rgb(tint(UNSURE, 1.0))
    assert red == green == blue, "its interval contains 0"
    assert sum(to_rgb(tint(SURE, 9.0))) > sum(to_rgb(tint(SURE, 1.0)))


def test_a_heat_map_has_a_cell_for_each_margin_with_its_interval() -> None:
    drawn = HeatMap(
        "A table",
        ["one", "other"],
        ["one", "other"],
        [[None, SURE], [LOSS, None]],
        ("rating", ["+9 ± 1", "-9 ± 1"]),
        ("this agent", "among these"),
    )
    svg = drawn.picture().svg().decode()
    assert re.findall(r">([^<>]+)</text>", svg) == [
        "A table", "this agent", "among these", "one", "other", "rating",
        "one", "\u2013", "+1.00", "± 0.50", "+9", "± 1",
        "other", "\u22121.00", "± 0.50", "\u2013", "\u22129", "± 1",
        "\u22121", "+1", "0",
    ]  # fmt: skip
    assert svg.count(f"fill: {tint(SURE, 1.0)}") == svg.count(f"fill: {tint(LOSS, 1.0)}") == 2, (
        "and in the key"
    )
    light = svg.partition("</style>")[2]
    assert light.count(f"fill: {LINE}") == 2, "the diagonal"
    assert min(map(float, re.findall(r"font-size: ([\d.]+)px", light))) >= 9, "units of 4/3 pixels"


def test_what_is_not_certain_is_hatched() -> None:
    assert "not certain" not in HeatMap("A", ["one"], ["other"], [[SURE]]).picture().svg().decode()
    svg = HeatMap("A", ["one"], ["other"], [[UNSURE]]).picture().svg().decode()
    assert svg.count("fill: url(#") == 2, "the cell and the key"
    assert ">not certain</text>" in svg


@pytest.mark.parametrize("margin", [SURE, Estimate(0.0, 0.0, 0.0)])
def test_bars_stand_by_table_in_the_colours_of_their_agents(margin: Estimate) -> None:
    found = [
        Bar("2 players", "a", margin, "best"),
        Bar("2 players", "b", UNSURE, "unclear"),
        Bar("3 players", "a", LOSS, "worse"),
    ]
    (axes,) = bars("Bars", found).draw().axes
    assert [to_hex(bar.get_facecolor()) for bar in axes.patches] == [LINES[0], LINES[1], LINES[0]]
    assert [bar.get_alpha() for bar in axes.patches] == [1, 0.35, 1], "pale where nothing is certain"
    assert [bar.get_width() for bar in axes.patches] == [margin.mean, 0.2, -1.0]
    words = [text.get_text() for text in axes.texts]
    assert words == [str(margin), "2 players", "+0.20 ± 0.50", "b", "\u22121.00 ± 0.50", "3 players"]
    assert axes.texts[3].get_color() == LINES[1]
    assert axes.get_xlabel() == "points per round above the heuristics"


@pytest.mark.parametrize("narrow", [False, True])
def test_the_legend_has_the_colours_that_are_there_and_no_words_overlap(narrow: bool) -> None:
    long = [
        Bar("2 players, every kind of tile", "PIMC, 64 worlds", Estimate(-10.5, -11, -10), kind)
        for kind in ("best", "unclear")
    ]
    figure = bars("Bars", [*long, *(replace(bar, table="6 players, Khmer") for bar in long)], narrow).draw()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "PIMC, 64 worlds", "pale: not certainly above 0",
    ]  # fmt: skip
    FigureCanvasAgg(figure).draw()
    labels = [axes.xaxis.label for axes in figure.axes]
    texts = [*legend.get_texts(), *labels, *(text for axes in figure.axes for text in axes.texts)]
    boxes = [text.get_window_extent() for text in texts]
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other)
    width, height = figure.canvas.get_width_height()
    assert all(box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height for box in boxes)


def test_a_picture_follows_the_theme_of_the_page() -> None:
    svg = HeatMap("A table", ["one"], ["other"], [[SURE]], ("rating", ["+9 ± 1"])).picture().svg().decode()
    ElementTree.fromstring(svg)
    rules = re.search(r"@media \(prefers-color-scheme: dark\)\{(.*)\}</style>", svg)
    assert rules
    assert "text{fill:#f2f4f7}" in rules[1]
    assert '[style*="fill: #ece7dc"]{fill:#12151b!important}' in rules[1]
    assert "#4a3fb8" not in rules[1], "no line has it"
    assert svg.count("fill: #ece7dc") == 1 + rules[1].count("fill: #ece7dc"), "the background"
    inks = [re.search(r"fill: (#\w+)", style) for style in re.findall('<text style="([^"]*)"', svg)]
    assert [ink and ink[1] for ink in inks].count("#111111") == 2, "on a coloured cell it stays dark"
    assert {ink[1] for ink in inks if ink} == {"#111111", "#555b69"}, "any other text changes its colour"
    assert '[style*="fill: #555b69"]{fill:#b1b8c4!important}' in rules[1]


def test_the_run_on_the_pages_is_drawn_for_both_themes(tmp_path: Path) -> None:
    pictures = {file.stem: drawn.svg().decode() for file, drawn in quick_run_pictures(Folders()).items()}
    assert list(pictures) == ["learning", "arena", "learning-narrow", "arena-narrow"]
    widths = {name: float(re.search(r'width="([\d.]+)pt"', svg)[1]) * 4 / 3 for name, svg in pictures.items()}
    assert all(355 <= width <= 375 for name, width in widths.items() if "narrow" in name), (
        "as wide as a phone"
    )
    assert all(735 <= width <= 755 for name, width in widths.items() if "narrow" not in name), "as a page"
    heading = ">After 10 million decisions: +0.84\u00a0±\u00a00.31 points among heuristics</text>"
    assert heading in pictures["learning"]
    assert '[style*="stroke: #4a3fb8"]{stroke:#a9a2ff!important}' in pictures["learning"], "a line"
    assert ">runs/quick scores highest</text>" in pictures["arena"]
    assert all("Figtree" in svg for svg in pictures.values())
    assert quick_run_pictures(Folders(tmp_path)) == {}
