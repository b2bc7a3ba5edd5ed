"""Random games with the events of every action, for the tests of events of every game."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from catbox_env import Event, Game, GameState

Step = tuple[GameState, int, GameState]


def steps(game: Game, seed: int) -> Iterator[Step]:
    """Random play: (before, action, after) of every action; the states are not changed later."""
    rng = np.random.default_rng(seed)
    before = game.new_initial_state(seed=seed)
    while not before.is_terminal():
        after = copy.deepcopy(before)
        action = int(rng.choice(before.legal_actions()))
        after.apply_action(action)
        yield before, action, after
        before = after


def told(step: Step, seat: int | None = None) -> list[Event]:
    before, action, after = step
    return before.game.events(before, action, after, seat)


def of_kind(events: Sequence[Event], *kinds: str) -> list[Event]:
    return [event for event in events if event.kind in kinds]


def checked_rounds(game: Game, seed: int) -> Iterator[tuple[Step, list[Event]]]:
    """Random play of a game of tricks: the last step of every round, with all that was told in that round.

    The events of the round's end are right: against ``info``, the rewards and the totals, and for all seats alike.
    """
    number, totals = 0, np.zeros(game.num_players)
    in_round: list[Event] = []
    for step in steps(game, seed):
        after, events = step[2], told(step)
        in_round += events
        if not after.round_ended:
            assert not of_kind(events, "round_end", "score", "hand", "round_begin", "game_end")
            continue
        number += 1
        totals += after.rewards()
        assert [event.data["round"] for event in of_kind(events, "round_end")] == [number]
        scores = of_kind(events, "score")
        assert [event.seat for event in scores] == list(range(game.num_players))
        tricks = [event.seat for event in of_kind(in_round, "trick_won")]
        for seat, event in enumerate(scores):
            info = after.info(seat)
            terms, result = sum_in(event.text)
            assert terms == result == event.data["score"] == info["score"] == after.rewards()[seat]
            assert event.data["total"] == totals[seat]
            assert tricks.count(seat) == info["tricks_won"]
            assert laid_open(told(step, seat)) == laid_open(events)
        if after.is_terminal():
            (end,) = of_kind(events, "game_end")
            winners = [seat for seat in range(game.num_players) if after.record.win_shares[seat] > 0]
            assert end.data["winners"] == winners
            assert all(f"player_{winner}" in end.text for winner in winners)
        yield step, in_round
        in_round = []
    assert number == game.rules.num_rounds


def texts(state: GameState, move: int, seat: int | None = None) -> list[str]:
    """What a seat is told of an action, which is taken in a copy of ``state``."""
    after = copy.deepcopy(state)
    after.apply_action(move)
    return [event.text for event in state.game.events(state, move, after, seat)]


def sum_in(text: str) -> tuple[float, float]:
    """Both sides of the sum in the text of a ``score``: what its terms add up to, and what it says they do.

    One term alone is no sum: it is both.
    """
    terms, _, total = text.partition(": ")[2].partition(" = ")
    plain = re.sub(r"\([^)]*\)|tricks?", "", terms)
    found = [float(term) for term in re.sub(r"([+-]) ", r"\1", plain).split()]
    assert total or len(found) == 1
    return sum(found), float(total.split(" (")[0]) if total else found[0]


def laid_open(events: Sequence[Event]) -> dict[int, dict[str, Any]]:
    """The data of the events ``hand``, by seat."""
    return {event.seat: event.data for event in of_kind(events, "hand") if event.seat is not None}
