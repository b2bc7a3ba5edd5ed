"""Games that tests of several folders play."""

from typing import Any

import catbox_env


def game_for(players: int = 3, **options: Any) -> catbox_env.Game:
    """Cat in the Box for so many players."""
    return catbox_env.make_game("cat_in_the_box_v0", num_players=players, **options)
