"""A position of Cat in the Box as a picture: research board and hand, trick, players, other hands."""

from __future__ import annotations

import numpy as np

from catbox_env.core.picture import Sheet, won_by
from catbox_env.core.state import GameState
from catbox_env.games.cat_in_the_box.play.state import BID, DISCARD, PLAY
from catbox_env.games.cat_in_the_box.rules import Rules
from catbox_env.games.cat_in_the_box.show.picture_board import Board
from catbox_env.games.cat_in_the_box.show.picture_table import put_hands, put_players, put_trick
from catbox_env.games.cat_in_the_box.show.picture_view import View


def draw(rules: Rules, params: np.record, state: GameState, seat: int | None, sheet: Sheet) -> str:
    """The picture as ``seat`` sees it, with every hand for None."""
    view = View.of(rules, params, state, seat)
    Board(view, sheet.theme).put(sheet)
    put_trick(view, sheet)
    put_players(view, sheet)
    if seat is None:
        put_hands(view, sheet)
    return sheet.svg("Cat in the Box", _note(view), _line(view), view.last, view.mover)


def _note(view: View) -> str:
    """Where in the game we are."""
    rules, parts = view.rules, []
    if rules.num_rounds > 1:
        parts.append(f"round {view.round} of {rules.num_rounds}")
    if view.phase == PLAY:
        parts.append(f"trick {view.trick} of {rules.num_tricks}")
    return " · ".join(parts) or f"{rules.num_players} players"


def _line(view: View) -> str:
    """Who is to move, and what it has to do."""
    if view.mover < 0:
        return won_by(view.winners)
    if view.phase in (DISCARD, BID):
        what = {DISCARD: "puts a card aside", BID: "bids"}[view.phase]
    elif view.legal == [view.rules.paradox]:
        what = "has to cause a paradox"
    else:
        what = "declares a card" if view.plays and not view.is_over else "leads"
    return f"player_{view.mover} {what}"
