"""A game under one rule set, as users have it (`Game`): it makes states and batches of worlds, and shows states.

Names follow OpenSpiel where it has the same thing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from catbox_env.core import drawing
from catbox_env.core.checks import check_action, check_list, check_viewer, is_integer, short_repr
from catbox_env.core.kernels import HIDDEN, copy_records, new_records
from catbox_env.core.rng import MASK32, WORDS, new_generators, seed_sequence
from catbox_env.core.spec import GameSpec, check_origin
from catbox_env.core.state import (
    MAGIC,
    Event,
    GameState,
    Source,
    check_state,
    last_action,
    styled_text,
    winners_of,
)
from catbox_env.core.text import won_by
from catbox_env.core.worlds import empty_log, rewind, sample_state, sample_states

_ROW = np.zeros(1, np.int64)


def _deals_in(text: str) -> list[Any]:
    """The deals of a game's rounds, from their JSON text."""
    try:
        deals = json.loads(text)
    except (ValueError, RecursionError):
        deals = None
    if not isinstance(deals, list) or not deals:
        raise ValueError(
            f"deal={short_repr(text)}: expected a JSON list with the deal of each round, as in a data set's column deal"
        )
    return deals


class Game(GameSpec):
    """A game under one rule set: immutable, picklable, equal to another of the same id, rules and reward.

    `core.spec.GameSpec` lists the attributes, what a new game declares, and the methods that need no state.
    """

    # States and worlds.

    def new_initial_state(self, seed: Any = None, deal: Any = None) -> GameState:
        """The initial state of a new game.

        Args:
            seed: a non-negative integer, a numpy ``SeedSequence``, or ``None`` (entropy from the operating system).
            deal: a fixed deal instead of a random one, in the game's own format; or the text that a data set holds, a
                JSON list with the deal of each round, of which the first is taken. Later rounds are random.
        """
        return self._begin(new_generators([seed_sequence(seed)]), deal)

    def _begin(self, generators: np.ndarray, deal: Any = None) -> GameState:
        """Like ``new_initial_state``, with a generator (1,), a record of `core.rng`, which is advanced in place."""
        records = new_records(self.kernels.state)
        self.loops.deal_games(self.params, generators, records, _ROW)
        if isinstance(deal, str) and deal.startswith("["):
            deal = _deals_in(deal)[0]
        if deal is not None:
            self._write_deal(records[0], deal)
        return GameState(self, records, generators, empty_log(self), [copy_records(records)], Source.DEALT)

    def set_deal(self, state: GameState, deal: Any) -> None:
        """Replace the deal of the round that has just begun in ``state``. Raises ``ValueError`` if it is impossible."""
        check_state("state", state, self)
        self._write_deal(state.record, deal)
        state._round_starts[-1:] = [copy_records(state._records)]

    def replay(self, deals: Sequence[Any] | str, actions: Sequence[int], seed: Any = None) -> GameState:
        """The state to which ``actions`` lead if the rounds are dealt as ``deals`` say.

        Args:
            deals: the deal of each round that begins, as `deal_of` gives it, or the JSON text that a data set holds;
                rounds beyond them are dealt at random.
            actions: the ids of all actions since the beginning.
            seed: of the random deals, as in ``new_initial_state``.

        Raises ``ValueError`` for an impossible deal or an illegal action.
        """
        if isinstance(deals, str):
            deals = _deals_in(deals)
        check_list("deals", deals, "deals, as deal_of returns")
        check_list("actions", actions, "the ids of actions")
        state = self.new_initial_state(seed, deals[0] if len(deals) else None)
        later = iter(deals[1:])
        for action in actions:
            state.apply_action(action)
            if state.round_ended and not state.is_terminal() and (deal := next(later, None)) is not None:
                self.set_deal(state, deal)
        return state

    def deserialize_state(self, data: bytes) -> GameState:
        """The state that ``GameState.serialize`` wrote: its deals and actions, replayed by the rules.

        Raises ``ValueError`` for damaged data, for data of another game or rule set, naming the difference, and for
        deals and actions that the rules do not allow.
        """
        if not isinstance(data, bytes | bytearray | memoryview) or bytes(data[: len(MAGIC)]) != MAGIC:
            raise ValueError(f"data={short_repr(data)}: expected the bytes that state.serialize() returned")
        digest, _, body = bytes(data[len(MAGIC) :]).partition(b"\n")
        if digest != hashlib.sha256(body).hexdigest().encode():
            raise ValueError("a serialised state: damaged (the checksum does not match); use another copy")
        try:
            found = json.loads(body)
            origin = {name: found[name] for name in ("format", "game", "options")}
            deals, actions, words = found["deals"], found["actions"], found["generator"]
            listed = isinstance(deals, list) and isinstance(actions, list) and len(words) == len(WORDS)
        except (ValueError, TypeError, KeyError, RecursionError):
            listed = False
        if not listed or not all(is_integer(word) and 0 <= word <= MASK32 for word in words):
            raise ValueError("a serialised state: not what state.serialize() returned; use another copy")
        check_origin("a serialised state", origin, self)
        state = self.replay(deals, actions, seed=0)
        needed = [self._read_deal(records[0]) is not None for records in state._round_starts]
        if [deal is not None for deal in deals] != needed:
            raise ValueError(
                f"a serialised state: {len(deals) - deals.count(None)} deals for {sum(needed)} rounds with deals; use "
                "another copy"
            )
        for name, word in zip(WORDS, words, strict=True):
            state._generators[name] = word
        return state

    def deal_of(self, state: GameState) -> dict[str, Any] | None:
        """The deal of the round that ``state`` is in, as JSON-serialisable values for ``new_initial_state(deal=...)``.

        None for a game without deals, which always begins the same way. Raises ``ValueError`` if the deal is not known:
        for the view of one seat, and in the middle of a round for a state from a batch or one that was sampled without
        its history.
        """
        check_state("state", state, self)
        if state._source is Source.SEEN:
            raise ValueError("state: it shows the view of one seat, which does not know the whole deal")
        if state._round_starts:
            return self._read_deal(state._round_starts[-1][0])
        deal, again = self._read_deal(state.record), copy_records(state._records)
        if deal is not None and not self._is_deal_of(deal, again):
            raise ValueError(
                "state: it is in the middle of a round, and comes from a batch or was sampled without its history, so "
                "the deal of the round is not known; ask at the beginning of the round"
            )
        return deal

    sample_state = sample_state
    sample_states = sample_states
    rewind = rewind

    # Text and pictures.

    def render_text(self, state: GameState, seat: int | None = None) -> str:
        """The state as plain text, with the hand of ``seat``, every hand for None, or no hand for -1.

        Raises ``ValueError`` for a seat that the game does not have.
        """
        check_state("state", state, self)
        return "".join(text for text, _ in styled_text(state, seat))

    def render_svg(
        self,
        state: GameState,
        seat: int | None = None,
        size: int = drawing.SIZE,
        theme: str = drawing.THEME,
    ) -> str:
        """The state as a picture: self-contained SVG text.

        Args:
            state: a state of this game.
            seat: the viewer; the SVG contains only what that seat sees. None: everything, all hands; -1: only what
                everybody sees.
            size: width in pixels, 240 to 4096. The height follows, and is the same for all states of a game.
            theme: ``"light"`` or ``"dark"``.

        In the view of the seat to move, and in that of None, each legal action is one element with the role
        ``button``, the attribute ``data-action`` (the action's id) and an ``aria-label`` (its name). Raises
        ``ValueError`` for invalid arguments.
        """
        check_state("state", state, self)
        return drawing.render_svg(state, check_viewer(seat, self.num_players), size, theme)

    def events(
        self, before: GameState, action: int, after: GameState, seat: int | None = None
    ) -> list[Event]:
        """What ``action`` did, in order: moves, tricks won and why, round ends with their scores, winners.

        Args:
            before: the state in which the action was taken; not changed.
            action: the id of the action.
            after: the state that it led to. In a game of several rounds this may be the beginning of the next round;
                the events are still those of the round that has ended.
            seat: the viewer; events contain only what it sees. None: everything; -1: only what everybody sees.

        When a round ends, its cards are revealed to everybody. Raises ``ValueError`` for states of another game, for
        an ``after`` that ``action`` does not lead to, and for a seat that the game does not have.
        """
        for name, state in (("before", before), ("after", after)):
            check_state(name, state, self)
        action = check_action(action, self.num_actions)
        moves = int(before.record.num_moves)
        follows = after._num_moves() == moves + 1
        if not follows or after._log[moves, :2].tolist() != [before.current_player, action]:
            raise ValueError(
                f"after: not the state that action {action} ({self.action_to_string(action)}) leads to from before; "
                "keep a copy.deepcopy of the state, apply the action, and pass both"
            )
        return self._events(before, action, after, check_viewer(seat, self.num_players))

    def _events(self, before: GameState, action: int, after: GameState, viewer: int | None) -> list[Event]:
        """What `events` returns, for checked arguments. By default the name of ``action``, unless it is hidden from
        ``viewer``, and at the end the winners."""
        mover, seen = before.current_player, last_action(after, viewer) != (before.current_player, HIDDEN)
        words = self.action_to_string(action) if seen else "a hidden action"
        found = [Event("action", mover, f"player_{mover}: {words}", {"action": action if seen else None})]
        if winners := winners_of(after):
            alone = winners[0] if len(winners) == 1 else None
            found.append(Event("game_end", alone, won_by(winners), {"winners": winners}))
        return found

    def _is_deal_of(self, deal: Any, records: np.ndarray) -> bool:
        """Whether ``deal``, written over ``records`` (1,) at the beginning of a round, changes nothing."""
        vectors = np.empty((2, self.state_layout.size), np.int8)
        self.loops.state_one(self.params, records, 0, vectors[0])
        try:
            self._write_deal(records[0], deal)
        except ValueError:  # with fewer cards than are dealt
            return False
        self.loops.state_one(self.params, records, 0, vectors[1])
        return bool((vectors[0] == vectors[1]).all())
