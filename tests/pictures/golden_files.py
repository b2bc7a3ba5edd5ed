"""Golden pictures: a few positions of each game as SVG.

``python -m tests.pictures.golden_files`` writes the files of ``golden/``; open those that changed in a browser and look
at them before you commit.
"""

from pathlib import Path
from typing import Any

import numpy as np

from catbox_env import GameState, make_game
from catbox_env.core.checks import PUBLIC

FOLDER = Path(__file__).parent / "golden"

#: Name -> (game id, options, seed of the deal and of random play, moves, viewer, size, theme).
PICTURES: dict[str, tuple[str, dict[str, Any], int, int, int | None, int, str]] = {
    "cat_in_the_box_discard": ("cat_in_the_box_v0", {"num_players": 3}, 3, 1, 1, 360, "dark"),
    "cat_in_the_box_bid": ("cat_in_the_box_v0", {"rounds": 2}, 3, 5, 1, 720, "light"),
    "cat_in_the_box_trick": ("cat_in_the_box_v0", {"num_players": 5}, 3, 33, 1, 720, "light"),
    "cat_in_the_box_waiting": ("cat_in_the_box_v0", {"num_players": 5}, 3, 33, 4, 360, "light"),
    "cat_in_the_box_public": ("cat_in_the_box_v0", {"num_players": 5}, 3, 33, PUBLIC, 360, "dark"),
    "cat_in_the_box_last_trick": ("cat_in_the_box_v0", {"num_players": 2}, 3, 12, None, 720, "dark"),
    "cat_in_the_box_next_round": ("cat_in_the_box_v0", {"num_players": 3, "rounds": 2}, 8, 25, 1, 720, "dark"),
    "cat_in_the_box_paradox": ("cat_in_the_box_v0", {}, 5, 29, 1, 720, "dark"),
    "cat_in_the_box_end": ("cat_in_the_box_v0", {}, 5, 99, None, 720, "light"),
    "cat_te_follow": ("cat_te_v0", {}, 3, 9, 2, 360, "light"),
    "cat_te_blind": ("cat_te_v0", {}, 3, 17, 1, 720, "dark"),
    "cat_te_public": ("cat_te_v0", {}, 3, 17, PUBLIC, 720, "light"),
    "cat_te_end": ("cat_te_v0", {"num_players": 6, "side_pot": 2, "rounds": 2}, 5, 99, None, 720, "light"),
    "petrify_walk": ("petrify_v0", {}, 3, 4, 0, 360, "dark"),
    "petrify_tiles": (
        "petrify_v0",
        {"num_players": 4, "size": 8, "teleports": 5, "walls": 4, "zeros": 3, "wildcards": 4},
        3, 12, None, 720, "light",
    ),
    "petrify_end": ("petrify_v0", {"num_players": 3}, 3, 99, None, 720, "light"),
}  # fmt: skip


def position(game_id: str, options: dict[str, Any], seed: int, moves: int) -> GameState:
    """A game after so many random moves, or at its end."""
    state, rng = make_game(game_id, **options).new_initial_state(seed=seed), np.random.default_rng(seed)
    for _ in range(moves):
        if state.is_terminal():
            break
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state


def golden(name: str) -> str:
    """The picture of that name, an element on each line."""
    game_id, options, seed, moves, seat, size, theme = PICTURES[name]
    state = position(game_id, options, seed, moves)
    return state.game.render_svg(state, seat, size, theme).replace("><", ">\n<") + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in PICTURES:
        (FOLDER / f"{name}.svg").write_text(golden(name), encoding="utf-8")
