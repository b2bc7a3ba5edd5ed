"""Pictures of every game: sound SVG, for whoever looks, of what it sees, and readable."""

import itertools
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from catbox_env import GAMES, make_game, make_vec, registry
from catbox_env.core.checks import PUBLIC
from catbox_env.pictures import cat_in_the_box, default
from catbox_env.pictures.sheet import MAX_SEATS, THEMES, Sheet, Theme
from tests.core.bad_values import check_refusals
from tests.core.fuzz import random_game
from tests.core.game_cases import CASES, begun
from tests.games.test_conformance import VARIANTS
from tests.pictures.checks import SVG, check_picture, check_pictures
from tests.pictures.golden_files import FOLDER, PICTURES, golden, position


@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_is_the_golden_one(name: str) -> None:
    """``python -m tests.pictures.golden_files`` writes them: look at those that change."""
    assert golden(name).splitlines() == (FOLDER / f"{name}.svg").read_text(encoding="utf-8").splitlines()


def test_every_game_has_golden_pictures_and_every_file_is_one() -> None:
    assert {game_id for game_id, *_ in PICTURES.values()} == set(GAMES)
    assert {path.stem for path in FOLDER.iterdir()} == set(PICTURES)


@pytest.mark.parametrize(("game_id", "options"), VARIANTS, ids=str)
def test_pictures_are_sound_and_tell_nothing_hidden(game_id: str, options: dict[str, Any]) -> None:
    check_pictures(make_game(game_id, **options))


@pytest.mark.parametrize("game_id", GAMES)
def test_pictures_under_random_rules_are_sound_and_tell_nothing_hidden(game_id: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(8):
        game = random_game(game_id, rng)
        seed, moves = int(rng.integers(2**31)), int(rng.integers(game.max_game_length))
        check_picture(begun(game, moves, seed), seed)


def test_a_game_without_a_picture_of_its_own_has_the_default_one() -> None:
    assert registry.picture_of("cat_in_the_box_v1") is cat_in_the_box.draw
    for game_id in ("nim_v0", "sheet_v0", "letters_v0", "cat_te", "a.b_v0"):
        assert registry.picture_of(game_id) is default.draw


def show_every_hand(sheet: Sheet) -> str:
    sheet.seat = None
    return cat_in_the_box.draw(sheet)


def draw_a_hidden_hand(sheet: Sheet) -> str:
    sheet.panel(0, 20, f"<!-- {sheet.state.record.hand[0]} -->")
    return cat_in_the_box.draw(sheet)


def grow(sheet: Sheet) -> str:
    sheet.panel(0, 500 + int(sheet.state.record.num_moves), "")
    return cat_in_the_box.draw(sheet)


@pytest.mark.parametrize(
    ("draw", "found"),
    [
        (show_every_hand, "tells what the seat cannot see"),
        (draw_a_hidden_hand, "tells what the seat cannot see"),
        (grow, "different sizes"),
    ],
)
def test_a_picture_that_leaks_or_grows_does_not_pass(
    draw: Callable[[Sheet], str], found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "picture_of", lambda game_id: draw)
    with pytest.raises(AssertionError, match=found):
        check_pictures(make_game("cat_in_the_box_v0", num_players=3), num_games=30)


@pytest.mark.nojit
@pytest.mark.parametrize("game_id", GAMES)
def test_a_picture_is_drawn_without_compiled_code(game_id: str) -> None:
    check_picture(begun(make_game(game_id), 7, 0), 0)


def test_a_batch_draws_its_games() -> None:
    vec = make_vec("cat_te_v0", 3, seed=0, history=True)
    vec.step_random(4, seed=0)
    state = vec.game.new_initial_state(seed=np.random.SeedSequence(0).spawn(3)[1])
    for action in vec._logs[1, :4, 1]:
        state.apply_action(int(action))
    assert vec.game.render_svg(vec.get_state(1), 2, 500, "dark") == state.game.render_svg(
        state, 2, 500, "dark"
    )
    with pytest.raises(ValueError, match="row=3: expected an integer from 0 to 2"):
        vec.get_state(3)


@pytest.mark.parametrize("size", [240, 559, 560, 960, 4096])
def test_a_picture_has_the_width_that_was_asked_for_and_text_that_can_be_read(size: int) -> None:
    """No letter is smaller than 11 pixels at 360 pixels, nor where two columns have room."""
    for name in ("cat_in_the_box_trick", "cat_te_follow", "petrify_tiles"):
        game_id, options, seed, moves, *_ = PICTURES[name]
        state = position(game_id, options, seed, moves)
        root = ElementTree.fromstring(state.game.render_svg(state, None, size))
        left, top, width, height = (float(part) for part in root.attrib["viewBox"].split())
        assert (left, top, int(root.attrib["width"])) == (0, 0, size)
        assert int(root.attrib["height"]) == pytest.approx(size * height / width, abs=1)
        assert (width > 400) == (size >= 560)
        smallest = min(float(text.attrib["font-size"]) for text in root.iter(f"{{{SVG}}}text"))
        if size >= 360:
            assert smallest * size / width >= (9 if 560 <= size < 640 else 11)


def test_a_large_picture_has_a_larger_left_column() -> None:
    expected = {"cat_in_the_box_trick": ["research board", "hands"], "cat_te_follow": ["tricks", "hand"]}
    for name, left in expected.items():
        game_id, options, seed, moves, *_ = PICTURES[name]
        state = position(game_id, options, seed, moves)
        for size, larger in ((959, []), (960, left)):
            root = ElementTree.fromstring(state.game.render_svg(state, None, size))
            scaled = [part for part in root if "scale(1.5)" in part.get("transform", "")]
            assert [part[0].get("aria-label") for part in scaled] == larger


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_needs_nothing_else_and_can_stand_beside_others(name: str) -> None:
    svg = golden(name)
    assert not re.search(r"\b(id|href|style|class|src|on\w+)=|url\(|<script|<style|<image|<use|<!", svg)
    assert svg.count("http") == 1  # the namespace


def luminance(color: str) -> float:
    """Relative luminance of "#rrggbb" (WCAG 2.2)."""
    parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_text_and_shapes_can_be_told_from_what_they_stand_on(theme: Theme) -> None:
    grounds = (theme.page, theme.panel, theme.face, theme.turn)
    words = [(ink, ground) for ink in (theme.ink, theme.soft) for ground in grounds]
    words += [(theme.ink, ground) for ground in (theme.back, theme.open, *theme.tints)] + [
        (theme.panel, theme.ink)
    ]
    words += list(zip(theme.on_colors, theme.colors, strict=True)) + list(
        zip(theme.words, theme.tints, strict=True)
    )
    words += [(word, ground) for word in theme.words for ground in (theme.face, theme.turn)]
    words += [(theme.on_seats, seat) for seat in theme.seats]
    assert not [pair for pair in words if contrast(*pair) < 4.5]
    shapes = [
        (shape, ground)
        for shape in (*theme.seats, theme.ink)
        for ground in (theme.panel, theme.turn, theme.open, *theme.tints)
    ]
    red, blue, _, green = theme.colors
    shapes += [(shape, theme.panel) for shape in (theme.soft, red, blue, green)]
    assert not [pair for pair in shapes if contrast(*pair) < 3]


def test_seats_have_shapes_of_their_own_beside_their_colours_and_no_numbers() -> None:
    theme = THEMES["light"]
    sheet = Sheet(make_game("cat_te_v0", num_players=MAX_SEATS).new_initial_state(seed=0), None, 720, "light")
    drawn = [sheet.token(seat, 0, 0, 12) for seat in range(MAX_SEATS)]
    shapes = [re.search(r' d="([^"]*)"', svg)[1] for svg in drawn]
    assert all(one != other for one, other in itertools.combinations(shapes, 2))
    assert not any("<text" in svg for svg in drawn), "a number could be taken for that of a card or a tile"
    assert len({*theme.seats, *theme.colors}) == MAX_SEATS + 4


def test_no_game_has_more_seats_than_there_are_tokens() -> None:
    assert max(max(cases.values["num_players"]) for cases in CASES.values()) <= MAX_SEATS


GAME = make_game("petrify_v0")
STATE = GAME.new_initial_state(seed=0)
BAD = {
    "state": (GAME.render_svg, []),
    "seat": (lambda v: GAME.render_svg(STATE, v), [None, PUBLIC]),
    "size": (lambda v: GAME.render_svg(STATE, size=v), []),
    "theme": (lambda v: GAME.render_svg(STATE, theme=v), []),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_by_name_and_nothing_changes(name: str) -> None:
    function, taken = BAD[name]
    check_refusals(name, function, taken, STATE.serialize)


@pytest.mark.parametrize("size", [239, 4097])
def test_a_picture_that_is_too_narrow_or_too_wide_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=f"size={size}: expected an integer from 240 to 4096"):
        GAME.render_svg(STATE, size=size)


def test_a_state_of_another_game_is_refused() -> None:
    with pytest.raises(ValueError, match="size"):
        make_game("petrify_v0", size=5).render_svg(STATE)
