"""Positions to test Cat Te on: deal hands, play cards by name, look at what a seat sees."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import catbox_env
from tests.cat_te.reference import ACTIONS, DECK, IDS, RANKS, SUITS


def start(hands: Sequence[str], *, upturned: str | None = None, seed: int = 0, **options: Any) -> Any:
    """A game with these hands, each as "AS KS 2C 3C 4D 9H"."""
    game = catbox_env.make_game("cat_te_v0", num_players=len(hands), **options)
    deal: dict[str, Any] = {"hands": [hand.split() for hand in hands]}
    if upturned is not None:
        deal["upturned"] = upturned
    return game.new_initial_state(seed=seed, deal=deal)


def move_id(move: str) -> int:
    """The action id, by the contract's table, of "AS", "fold AS", "claim" or "show"."""
    words = tuple(move.split())
    return IDS[words if words[0] in ("fold", "claim", "show") else ("play", *words)]


def play(state: Any, *moves: str) -> Any:
    """Apply moves; one string may hold several, separated by commas: "AS, fold 2C, 9S" is a trick of three."""
    for move in [move for line in moves for move in line.split(", ")]:
        state.apply_action(move_id(move))
    return state


def legal(state: Any) -> set[str]:
    """The legal moves in the words of `play`."""
    return {" ".join(ACTIONS[action]).removeprefix("play ") for action in state.legal_actions()}


def words(text: str) -> set[str]:
    return set(text.split())


def folds(text: str) -> set[str]:
    return {f"fold {card}" for card in text.split()}


def view(state: Any, seat: int) -> dict[str, np.ndarray]:
    """The named parts of what a seat sees (seats in it are relative: 0 is the observer)."""
    return state.game.observation_layout.unpack(state.observation(seat))


def cards(part: np.ndarray) -> set[str]:
    """The cards of a part with one place for each card of the deck."""
    return {DECK[place] for place in np.flatnonzero(part)}


def hand(state: Any, seat: int) -> set[str]:
    return cards(view(state, seat)["hand"])


def faceup(state: Any, observer: int = 0) -> list[list[str]]:
    """Face-up cards as [seat relative to the observer][trick], "" where there is none."""

    def name(row: np.ndarray) -> str:
        if not row.any():
            return ""
        assert row[:13].sum() == row[13:].sum() == 1
        return RANKS[np.argmax(row[:13])] + SUITS[np.argmax(row[13:])]

    return [[name(row) for row in rows] for rows in view(state, observer)["faceup"]]


def by_seat(state: Any, part: str) -> list[int]:
    """A part with one number for each seat, as seat 0 sees it: seats are absolute then."""
    return view(state, 0)[part].tolist()


def seat_of(state: Any, part: str) -> int | None:
    """The absolute seat that a one-hot part points to, None for nobody."""
    values = by_seat(state, part)
    assert sum(values) <= 1
    return values.index(1) if 1 in values else None


def statistics(state: Any, name: str) -> list[int]:
    """One statistic of the last finished round, by absolute seat."""
    return [state.info(seat)[name] for seat in range(state.game.num_players)]


def sweep(state: Any) -> Any:
    """The player to move leads any four cards and everybody else folds: it wins the first four tricks."""
    leader = state.current_player
    tricks = state.game.num_players * 4
    for _ in range(tricks):
        moves = sorted(legal(state) - {"claim", "show"})
        wanted = [move for move in moves if move.startswith("fold") == (state.current_player != leader)]
        play(state, wanted[0])
    return state


def round_of(state: Any) -> Any:
    """Play cards to the end of the round: the leader plays high, everybody else folds."""
    before = state.record.rounds_ended
    while state.record.rounds_ended == before:
        moves = sorted(legal(state) - {"claim", "show"})
        play(state, moves[-1])
    return state
