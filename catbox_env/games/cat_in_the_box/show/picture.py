"""A position of Cat in the Box as a picture: research board and hand, trick, players, other hands."""

from __future__ import annotations

from catbox_env.core.picture import Sheet, actions_shown, last_action, winners_of, won_by
from catbox_env.core.state import GameState
from catbox_env.games.cat_in_the_box.play.state import BID, DISCARD, PLAY
from catbox_env.games.cat_in_the_box.rules import COLORS, Rules
from catbox_env.games.cat_in_the_box.show.picture_board import Board
from catbox_env.games.cat_in_the_box.show.picture_table import put_hands, put_players, put_results, put_trick
from catbox_env.games.cat_in_the_box.show.view import View


def draw(rules: Rules, state: GameState, seat: int | None, sheet: Sheet) -> str:
    """The picture as ``seat`` sees it, or with every hand for None."""
    view, legal = View.of(rules, state.record, seat), actions_shown(state, seat)
    completed = [] if view.plays else _last_trick(rules, state)
    plays = view.plays or completed
    winners = winners_of(state)
    Board(view, legal, plays[-1] if plays else None, winners, sheet.theme).put(sheet)
    if state.record.rounds_ended and (view.mover < 0 or view.phase != PLAY):
        put_results(view, state, sheet)
    else:
        put_trick(view, completed, sheet)
    put_players(view, sheet)
    if seat is None:
        put_hands(view, sheet)
    line = won_by(winners) if view.mover < 0 else _line(view, legal)
    return sheet.svg("Cat in the Box", _note(view), line, _last_words(rules, state, seat), view.mover)


def _note(view: View) -> str:
    """The progress of the game."""
    rules, parts = view.rules, []
    if rules.num_rounds > 1:
        parts.append(f"round {view.round} of {rules.num_rounds}")
    if view.phase == PLAY and view.mover >= 0:
        parts.append(f"trick {view.trick} of {rules.num_tricks}")
    return " · ".join(parts) or f"{rules.num_players} players"


def _line(view: View, legal: list[int]) -> str:
    """Who is to move, and what to do."""
    if view.phase in (DISCARD, BID):
        bids = "bids: how many tricks?" if legal else "bids"
        what = {DISCARD: "puts a card aside", BID: bids}[view.phase]
    elif legal == [view.rules.paradox]:
        what = "has to cause a paradox"
    else:
        what = "plays a card" if view.plays else "leads"
    return f"player_{view.mover} {what}"


def _last_trick(rules: Rules, state: GameState) -> list[tuple[int, int, int]]:
    """The cards (seat, colour, rank) of the trick just completed; none before the first one."""
    record, players = state.record, rules.num_players
    moves = int(record.num_moves)
    if (
        record.phase != PLAY
        or record.tricks_left == rules.num_tricks
        or not players <= moves <= len(state.log)
    ):
        return []
    actions = state.log[moves - players : moves].tolist()
    if not all(rules.first_play <= action < rules.paradox for _, action, _ in actions):
        return []
    return [(seat, *divmod(action - rules.first_play, rules.num_ranks)) for seat, action, _ in actions]


def _last_words(rules: Rules, state: GameState, seat: int | None) -> str:
    last = last_action(state, seat)
    if last is None:
        return ""
    mover, action = last
    if action < rules.num_ranks:  # -1, hidden, is a discard too
        what = "put a card aside" if action < 0 else f"put {action + 1} aside"
    elif action < rules.first_play:
        what = f"bid {rules.bids[action - rules.num_ranks]}"
    elif action == rules.paradox:
        what = "caused a paradox"
    else:
        color, rank = divmod(action - rules.first_play, rules.num_ranks)
        what = f"played {COLORS[color]} {rank + 1}"
    return f"player_{mover} {what}."
