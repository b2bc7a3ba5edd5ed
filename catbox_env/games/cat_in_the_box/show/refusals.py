"""Why an action of Cat in the Box is illegal, in words."""

from __future__ import annotations

import numpy as np

from catbox_env.games.cat_in_the_box.play.state import BID, DISCARD, NONE, PLAY, RED
from catbox_env.games.cat_in_the_box.rules import COLORS, PHASES, Rules
from catbox_env.games.cat_in_the_box.show.view import card_to_string


def why_illegal(rules: Rules, state: np.record, action: int) -> str:
    """The rule that forbids an illegal ``action`` in ``state``."""
    seat, ranks, first_play = state.current_player, rules.num_ranks, rules.first_play
    kind = DISCARD if action < ranks else BID if action < first_play else PLAY
    if kind != state.phase:
        return f"this is the time to {PHASES[state.phase]}, not to {PHASES[kind]}"
    if kind == DISCARD:
        return f"there is no {action + 1} in the hand"
    if action == rules.paradox:
        return "a paradox is the last resort, and there is a legal declaration"
    color, rank = divmod(action - first_play, ranks)
    owner = state.board[color, rank]
    if not state.hand[seat, rank]:
        return f"there is no {rank + 1} in the hand"
    if owner != NONE:
        whose = f"a token of seat {owner}" if owner >= 0 else "a neutral token"
        return f"{card_to_string(color, rank)} is taken on the research board by {whose}"
    if not state.x_tokens[seat, color]:
        return f"the X-token of {COLORS[color]} has been given up"
    assert color == RED, "every other declaration is legal"
    return "red cannot be led before trump is broken while another colour can be declared"
