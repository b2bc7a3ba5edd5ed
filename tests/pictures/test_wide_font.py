"""No words of a picture touch others in a wide font: a viewer may have none of the fonts that a picture names."""

import re
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from PIL import ImageFont

from catbox_env import make_game
from tests.pictures.checks import SVG

FONTS = matplotlib.get_data_path() + "/fonts/ttf/DejaVuSans"
REGULAR, BOLD = (ImageFont.truetype(f"{FONTS}{weight}.ttf", 100) for weight in ("", "-Bold"))
#: What stands in a small card's corner may touch its rank.
ON_CARDS = re.compile("\u00d7\\d|[RBYG]|\\d+|[AJQK]")
GAMES: list[tuple[str, dict[str, Any]]] = [
    ("cat_in_the_box_v0", {"num_players": 3}),
    ("cat_in_the_box_v0", {"num_players": 5}),
    ("cat_in_the_box_v0", {"num_players": 4, "rounds": 2}),
    ("cat_te_v0", {}),
    ("cat_te_v0", {"num_players": 6, "side_pot": 2, "rounds": 2}),
    ("cat_te_v0", {"num_players": 5, "rounds": 2}),
    ("petrify_v0", {"num_players": 4}),
]

Box = tuple[float, float, float, float]


def boxes(
    element: ElementTree.Element, x: float = 0, y: float = 0, scale: float = 1
) -> list[tuple[str, Box]]:
    """The words of a picture and where they are: left, top, right, bottom, from the capitals to the baseline."""
    for name, numbers in re.findall(r"(\w+)\(([^)]*)\)", element.get("transform", "")):
        parts = [float(part) for part in numbers.split()]
        if name == "translate":
            x, y = x + scale * parts[0], y + scale * parts[1]
        elif name == "scale":
            scale *= parts[0]
    if element.tag != f"{{{SVG}}}text":
        return [found for part in element for found in boxes(part, x, y, scale)]
    if element.get("x") is None:
        return []
    words, size = element.text or "", float(element.attrib["font-size"]) * scale
    width = (BOLD if element.get("font-weight") else REGULAR).getlength(words) / 100 * size
    share = {"middle": 0.5, "end": 1}.get(element.get("text-anchor", ""), 0)
    left, low = x + scale * float(element.attrib["x"]) - share * width, y + scale * float(element.attrib["y"])
    return [(words, (left, low - 0.73 * size, left + width, low))]


@pytest.mark.parametrize(("game_id", "options"), GAMES, ids=str)
def test_words_do_not_touch_in_a_wide_font(game_id: str, options: dict[str, Any]) -> None:
    state, rng, moves = make_game(game_id, **options).new_initial_state(seed=1), np.random.default_rng(1), 0
    while True:
        if moves % 5 == 0 or state.is_terminal():
            for seat in (None, state.current_player, 0):
                for size in (360, 720, 1000):
                    root = ElementTree.fromstring(state.game.render_svg(state, seat, size))
                    width = float(root.attrib["viewBox"].split()[2])
                    found = boxes(root)
                    assert not [one for one, (left, *_, right, _) in found if right > width or left < 0]
                    for k, (one, (left, top, right, bottom)) in enumerate(found):
                        for other, (left2, top2, right2, bottom2) in found[k + 1 :]:
                            if ON_CARDS.fullmatch(one) and ON_CARDS.fullmatch(other):
                                continue
                            apart = right <= left2 or right2 <= left or bottom <= top2 or bottom2 <= top
                            assert apart, f"{one!r} touches {other!r} at {moves}, {seat}, {size}"
        if state.is_terminal():
            return
        state.apply_action(int(rng.choice(state.legal_actions())))
        moves += 1
