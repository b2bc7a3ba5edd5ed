"""The documentation site: its pages, its links, its animations."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import pyvips

import catbox_env
from catbox_agents.arena.plots import INK, LINE, PAGE, SOFT
from docs import build_site, illustrations, playground
from docs.animation import SHORT, animated

ROOT = Path(__file__).resolve().parent.parent


def test_every_page_has_one_place_in_the_navigation() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    named = re.findall(r": (\S+\.md)$", nav, re.MULTILINE)
    assert sorted(named) == sorted(build_site.pages().values())


def test_the_home_page_leads_to_everything_that_one_does_with_catbox() -> None:
    home = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    hero, cards = home.split('<div class="grid cards" markdown>')
    assert re.findall(r"\]\((\w+\.md)\)<!-- (?:second )?button -->", hero) == [
        "playground.md", "getting_started.md", "recipes.md",
    ]  # fmt: skip
    found = dict(re.findall(r"^- \*\*([^*]+)\*\*\n\n.*?\n\n(.*?\n)\n", cards, re.MULTILINE | re.DOTALL))
    assert {name: re.search(r"\((\w+\.md)\)", links)[1] for name, links in found.items()} == {
        "Play": "playground.md", "Train": "training.md", "Evaluate": "arena.md", "Plug into a toolkit": "toolkits.md",
        "Games and rules": "games.md", "Results": "leaderboard.md",
    }  # fmt: skip


def test_links_lead_to_pages_of_the_site() -> None:
    known = build_site.pages()
    source = ROOT / "docs" / "training.md"
    text = "[a](arena.md#speed) [b](../SECURITY.md) [c](../README.md) [d](../examples/reinforce.py) [e](https://x.org)"
    moved = build_site.moved(text, source, "training.md", known)
    assert (
        moved
        == "[a](arena.md#speed) [b](security.md) [c](index.md) [d](examples/reinforce.md) [e](https://x.org)"
    )
    text = "[a](docs/training.md) ![b](docs/images/petrify-light.svg)"
    moved = build_site.moved(text, ROOT / "CONTRIBUTING.md", "examples/x.md", known)
    assert moved == "[a](../training.md) ![b](../images/petrify-light.svg)"
    code = "```python\nprint(names[0](nowhere.md))\n```\n"
    assert build_site.moved(code, source, "training.md", known) == code


@pytest.mark.parametrize("target", ["nowhere.md", "../pyproject.toml", "images/nothing.svg"])
def test_a_link_to_what_is_not_on_the_site_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match=rf"docs/api\.md: {target} is no page or picture of the site"):
        build_site.moved(f"[a]({target})", ROOT / "docs" / "api.md", "api.md", build_site.pages())


def test_the_site_has_the_colours_the_font_and_the_logo_of_the_browser_table() -> None:
    table = playground.FRONT_END
    style, site = (table / "style.css").read_text(), (ROOT / "docs" / "site" / "site.css").read_text()
    for theme in (style.partition("{")[2], style.partition('[data-theme="dark"] {')[2]):
        colours = dict(re.findall(r"--(\w+): (#\w+)", theme.partition("}")[0]))
        for name in ("page", "panel", "line", "ink", "soft", "shade", "accent"):
            assert f"--{name}: {colours[name]};" in site
    light = dict(re.findall(r"--(\w+): (#\w+)", style.partition("}")[0]))
    assert [light[name] for name in ("page", "ink", "soft", "line")] == [PAGE, INK, SOFT, LINE], "plots too"
    assert set(build_site.OF_THE_TABLE) <= {path.name for path in table.iterdir()}
    named = (ROOT / "mkdocs.yml").read_text()
    assert "logo: site/icon.svg" in named
    assert "- site/font.css" in named
    cat = re.search(r'const d = "([^"]+)"', (table / "cats.js").read_text())
    assert cat
    assert cat[1] in (table / "icon.svg").read_text(), "the cat of the table's own logo"
    assert 'url("icon.svg")' in site, "the same cat on the home page"
    assert not list((ROOT / "docs" / "site").glob("*.svg")), "no other drawing of it"


def test_a_picture_follows_the_theme_of_the_site() -> None:
    text = (
        '<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="images/cat_te-dark.svg">\n'
        '  <img src="images/cat_te-light.svg" width="720" alt="A game.">\n</picture>'
    )
    moved = build_site.moved(text, ROOT / "docs" / "api.md", "api.md", build_site.pages())
    assert moved == (
        '<img src="images/cat_te-light.svg#only-light" width="720" alt="A game.">'
        '<img src="images/cat_te-dark.svg#only-dark" width="720" alt="A game.">'
    )


def test_a_picture_on_the_site_holds_its_font_and_nothing_else_changes() -> None:
    font = (playground.FRONT_END / "figtree.woff2").read_bytes()
    for name in ("pictures/arena.svg", "pictures/bench-petrify.svg"):
        picture = (ROOT / "docs" / name).read_text(encoding="utf-8")
        shown = build_site.with_font(picture, font)
        ElementTree.fromstring(shown)
        found = re.search(
            r"<style>@font-face.*?base64,([^)]+)\)\}svg\{font-family:Figtree,.*?</style>", shown
        )
        assert found
        assert base64.b64decode(found[1]) == font
        assert shown.replace(found[0], "") == picture


def test_a_picture_of_a_notebook_says_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_site, "SOURCES", tmp_path)
    state = catbox_env.make_game("petrify_v0").new_initial_state(seed=0)
    outputs = [{"data": {"image/svg+xml": state._repr_svg_()}}, {"data": {"image/png": "AA=="}}]
    cells = [
        {"cell_type": "markdown", "source": ["# Learning\n", "## The curve of `score`\n", "Words."]},
        {"cell_type": "code", "source": ["state"], "outputs": outputs},
    ]
    notebook = tmp_path / "made.ipynb"
    notebook.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    page = build_site.notebook_page(notebook, "notebooks/made.md", {})
    assert re.findall(r"!\[(.*)\]", page) == [
        "Petrify: 2 players · turn 1. player_0 walks 4 steps.",
        "Plot: The curve of score",
    ]


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<script src="https://x.org/a.js">', 'loads <script src="https://x.org/a.js from another host'),
        ('<link href="https://x.org/a.png">', 'loads <link href="https://x.org/a.png from another host'),
        ("<style>@font-face{src:url(//x.org/a.woff)}</style>", "loads url(//x.org/a.woff from another host"),
        ("<p>As follows:\n- one</p>", "'- one' is no list, table or code block"),
    ],
)  # fmt: skip
def test_faults_of_a_built_page_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, fault: str
) -> None:
    monkeypatch.setattr(build_site, "SITE", tmp_path)
    monkeypatch.setattr(build_site, "public_names", lambda: {"one.two": ["three"]})
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "one.html").write_text('<h2 id="one.two.three">')
    (tmp_path / "404.html").write_text(build_site.THEIR_NOT_FOUND)
    assert build_site.faults() == ["404.html: the theme has other words, see write_not_found"]
    build_site.write_not_found()
    good = '<a href="https://x.org"><link rel="canonical" href="https://x.org"><img src="data:image/png;base64,AA">'
    (tmp_path / "index.html").write_text(good)
    assert build_site.faults() == []
    (tmp_path / "index.html").write_text(good + body)
    assert build_site.faults() == [f"index.html: {fault}"]
    (tmp_path / "reference" / "one.html").write_text("")
    assert build_site.faults()[0] == "one.two.three: not in the reference"


@pytest.mark.parametrize(
    "name",
    ["petrify", *(pytest.param(name, marks=pytest.mark.slow) for name in ("cat_in_the_box", "cat_te"))],
)
def test_an_animation_shows_every_position_as_it_is_drawn(name: str) -> None:
    game, states = illustrations.recorded(name)
    pictures = [game.render_svg(state) for state in states]
    for number in range(0, len(pictures), 9):
        still = animated(pictures, [1.0] * len(pictures), still=number)
        assert pixels(still) == pixels(pictures[number]), number


def pixels(svg: str) -> bytes:
    return pyvips.Image.svgload_buffer(svg.encode()).write_to_memory()


def test_an_animation_changes_the_picture_when_its_time_has_come() -> None:
    root = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" viewBox="0 0 9 9">'
    shared = f'<rect width="9" fill="{"#" * SHORT}"/>'
    frame = root + "<g>" + shared + "{}</g></svg>"
    svg = animated([frame.format('<path d="M0 0"/>'), frame.format('<path d="M1 1"/>')], [1.0, 3.0])
    assert '<g class="f0"><g><use href="#s0"/><path d="M0 0" /></g></g><g class="f1">' in svg
    assert ".f0{opacity:0;animation:f0 4s step-end infinite}@keyframes f0{0%{opacity:1}25%{opacity:0}}" in svg
    assert ".f1{animation:f1 4s step-end infinite}@keyframes f1{0%{opacity:0}25%{opacity:1}}" in svg
    assert svg.count("<rect") == 1
    later = animated(
        [frame.format('<path d="M0 0"/>'), frame.format('<path d="M1 1"/>')], [1.0, 3.0], first=1
    )
    assert ".f1{animation:f1 4s step-end -1s infinite}" in later


def test_pictures_of_the_docs_are_small() -> None:
    """With the outlines of their letters: a font would take 30 kB more."""
    for path in (ROOT / "docs" / "images").iterdir():
        assert path.stat().st_size < (300_000 if "-game-" in path.name else 60_000), path.name


def test_pictures_with_outlines_have_no_text_and_are_sound() -> None:
    for name, picture in illustrations.images():
        root = ElementTree.fromstring(picture)
        tags = [element.tag.partition("}")[2] for element in root.iter()]
        assert "use" in tags, name
        texts = [one for one in root.iter() if one.tag.endswith("}text")]
        assert not any("".join(one.itertext()) for one in texts), name
