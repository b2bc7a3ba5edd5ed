"""A game under one rule set, for search and analysis. Names follow OpenSpiel where it has the same thing."""

from __future__ import annotations

from typing import Any

import numpy as np

from catbox_env.core.batch import Vec
from catbox_env.core.checks import brief, check_action, check_integer, check_seat, closest, is_array
from catbox_env.core.defaults import Shown
from catbox_env.core.definition import check_game_object
from catbox_env.core.events import Event, check_step
from catbox_env.core.past import Past, rewind, sample_past
from catbox_env.core.rng import GENERATOR, child_seeds, new_generators, seed_sequence
from catbox_env.core.sampling import checked_observations, fill_with_worlds, sample_worlds
from catbox_env.core.state import GameState, check_own_state, read_state

__all__ = ["Game", "GameState", "check_game_object"]


class Game(Shown):
    """A game under one rule set, and what it makes: states, batches, worlds, texts, events and pictures.

    `GameDefinition` describes its attributes and what a new game has to declare, `Shown` its default display.
    """

    # States and batches.

    def new_initial_state(self, seed: Any = None, deal: Any = None) -> GameState:
        """The initial state of a new game.

        Args:
            seed: a non-negative integer, a numpy ``SeedSequence``, or ``None`` (entropy from the operating system).
            deal: a fixed deal instead of a random one, in the game's own format. Later rounds are random.
        """
        generators = new_generators([seed_sequence(seed)])
        return self.initial_state_from(generators, deal)

    def initial_state_from(self, generators: np.ndarray, deal: Any = None) -> GameState:
        """Like ``new_initial_state``, with a generator instead of a seed: an array (1,), advanced in place.

        Raises ``ValueError`` for anything else.
        """
        if not is_array(generators, (1,), GENERATOR):
            raise ValueError(
                f"generators={brief(generators)}: expected the attribute `generators` of a GameState"
            )
        state = GameState(self, np.zeros(1, self.state_dtype), generators, self.empty_log())
        self.loops.deal_games(self.params, generators, state.records, np.zeros(1, np.int64))
        if deal is not None:
            self.set_deal(state.record, deal)
        return state

    def sample_state(
        self,
        observation: np.ndarray,
        seed: Any = None,
        history: np.ndarray | None = None,
        beginnings: np.ndarray | None = None,
    ) -> GameState:
        """A full state sampled uniformly from all those consistent with one observation, a determinization.

        Args:
            observation: int8 (O,), what one seat sees before the end of the game.
            seed: as in ``new_initial_state``; it also seeds the deals of later rounds.
            history: int8 (T, 2), what that seat has seen of all actions: its ``history_observation``.
            beginnings: int8 (K, O), what it saw at the beginning of the first K rounds, in order; None: what it saw
                only then, such as a card of an earlier round that it did not play, is sampled too. Needs ``history``.

        Without ``history`` the state's ``history()`` begins empty. With it the state has a past: its ``history()``
        holds all actions since the beginning of the game, including hidden ones of other seats, and its returns
        include the earlier rounds. The state and its past are then sampled together, uniformly from all that agree
        with observation and history, with cards of equal rank distinct; so information that only the history holds,
        such as the order of play, counts.

        Raises ``ValueError`` for a vector that no seat of this game can see or that was made after the end, and for a
        history that contradicts it, which may take a million samples to detect.
        """
        if history is not None:
            checked = checked_observations(self, observation, 1)
            return sample_past(self, checked, seed, history, beginnings)[0]
        if beginnings is not None:
            raise ValueError("beginnings were given without the history of the same seat; give both")
        generators = new_generators([seed_sequence(seed)])
        records = np.zeros(1, self.state_dtype)
        fill_with_worlds(
            self, checked_observations(self, observation, 1), np.ones(1, np.int64), generators, records
        )
        return GameState(self, records, generators, self.empty_log())

    def sample_states(self, observation: np.ndarray, count: int, seed: Any = None) -> Vec:
        """``count`` full states ("worlds"), each sampled as by ``sample_state``, as a batch.

        Args:
            observation: int8 (O,), or (M, O): several observations, with ``count`` states for each. Game
                ``i * count + k`` of the batch is then the k-th state of observation i.
            count: how many, at least 1.
            seed: as in ``sample_state``. Of several observations, observation i gets the states it would get alone
                with the seed ``SeedSequence(seed).spawn(M)[i]``.

        The batch has ``auto_deal`` off and keeps no history: each of its games begins here. Errors as in
        ``sample_state``.
        """
        count = check_integer("count", count, 1, 2**63 - 1)
        root = seed_sequence(seed)
        if np.ndim(observation) == 2:
            observations = checked_observations(self, observation, 2)
            children = child_seeds(root, len(observations))
        else:
            observations, children = checked_observations(self, observation, 1), [root]
        counts = np.full(len(observations), count, np.int64)
        return self.sample_states_from(observations, counts, new_generators(children))

    def sample_states_from(
        self, observations: np.ndarray, counts: np.ndarray, generators: np.ndarray, num_threads: int = 1
    ) -> Vec:
        """Like ``sample_states``, with a generator and a count for each observation.

        Args:
            observations: (M, O) int8, M at least 1.
            counts: (M,) int64, states of each observation, at least 1; they are consecutive in the batch.
            generators: (M,) records of ``core.rng.GENERATOR``, advanced in place.
            num_threads: threads of the returned batch.

        Errors as in ``sample_state``; they name the row.
        """
        return sample_worlds(self, observations, counts, generators, num_threads)

    def rewind(self, worlds: Vec, histories: np.ndarray, history_of: np.ndarray | None = None) -> Past:
        """Take worlds back to the beginning of their round, with a past that agrees with what a seat has seen.

        Args:
            worlds: N worlds, sampled by ``sample_states`` from what their seats to move see.
            histories: int8 (T, 2), or (M, T, 2): the histories of these seats, as ``vec.history`` has them.
            history_of: (N,) which of the M histories each world has; None: one for all, or the i-th for world i.

        Returns the worlds at the beginning, the actions since then, and a weight for each: see `core.past.Past`.
        Actions of earlier rounds stay unknown. Raises ``ValueError`` for a game that hides nothing, for arrays of the
        wrong shape, and for histories that do not belong to these worlds at this moment.
        """
        return rewind(self, worlds, histories, history_of)

    # Words and pictures.

    def string_to_action(self, text: str) -> int:
        """The action whose ``action_to_string`` is ``text``; case and extra spaces do not matter.

        Raises ``ValueError`` with the nearest known names.
        """
        if not isinstance(text, str):
            raise ValueError(f"action {brief(text)}: expected text, such as {self.action_to_string(0)!r}")
        wanted = " ".join(text.lower().split())
        names = [self.action_to_string(action) for action in range(self.num_actions)]
        known = {name.lower(): action for action, name in enumerate(names)}
        if wanted not in known:
            raise ValueError(
                f"unknown action {brief(text)}: expected a name such as {names[0]!r}{closest(text, names)}"
            )
        return known[wanted]

    def check_action_id(self, action: Any) -> int:
        """``action`` as an int. Raises ``ValueError`` unless it is an integer in ``0 .. A-1``."""
        return check_action(action, self.num_actions)

    def explain_refusal(self, record: np.record, action: int) -> str:
        """Why the illegal ``action``, any integer, cannot be taken in ``record``."""
        if record.terminated:
            return "the game is over"
        if not 0 <= action < self.num_actions:
            return f"expected 0 to {self.num_actions - 1}"
        return f"{self.action_to_string(action)}: {self.why_illegal(record, action)}"

    def render(self, state: np.record, seat: int | None = None) -> list[tuple[str, str]]:
        """The state as (text, rich style) pieces with the hand of ``seat``, or every hand for ``None``.

        Raises ``ValueError`` for a seat that the game does not have.
        """
        self.check_record(state)
        return self.draw_text(state, seat if seat is None else check_seat("seat", seat, self.num_players))

    def render_text(self, state: GameState, seat: int | None = None) -> str:
        """The state as plain text, with the hand of ``seat``, or every hand for ``None``. Errors as in `render`."""
        check_own_state("state", state, self)
        return "".join(text for text, _ in self.render(state.record, seat))

    def events(
        self, before: GameState, action: int, after: GameState, seat: int | None = None
    ) -> list[Event]:
        """What ``action`` did, in order: moves, tricks won and why, round ends with their scores, winners.

        Args:
            before: the state in which the action was taken; not changed.
            action: the id of the action.
            after: the state that it led to. In a game of several rounds this may be the beginning of the next round;
                the events are still those of the round that has ended.
            seat: the viewer; events contain only what it sees. None: everything.

        When a round ends, its cards are revealed to everybody. Raises ``ValueError`` for states of another game, for
        an ``after`` that ``action`` does not lead to, and for a seat that the game does not have.
        """
        action = check_step(self, before, action, after)
        viewer = seat if seat is None else check_seat("seat", seat, self.num_players)
        return self.tell_events(before, action, after, viewer)

    def render_svg(
        self, state: GameState, seat: int | None = None, size: int = 720, theme: str = "light"
    ) -> str:
        """The state as a picture: self-contained SVG text.

        Args:
            state: a state of this game.
            seat: the viewer; the SVG contains only what that seat sees. None: everything, all hands.
            size: width in pixels, 240 to 4096. The height follows, and is the same for all states of a game.
            theme: ``"light"`` or ``"dark"``.

        In the view of the seat to move, and in that of None, each legal action is one element with the role
        ``button``, the attribute ``data-action`` (the action's id) and an ``aria-label`` (its name). Raises
        ``ValueError`` for invalid arguments.
        """
        check_own_state("state", state, self)
        seat = seat if seat is None else check_seat("seat", seat, self.num_players)
        from catbox_env.pictures import render_svg  # only now: nothing that plays needs pictures

        return render_svg(state, seat, size, theme)

    def deserialize_state(self, data: bytes) -> GameState:
        """The state that ``GameState.serialize`` wrote.

        Raises ``ValueError`` for damaged data, for data of another game or rule set, naming the difference, and for a
        state from which the game cannot continue.
        """
        return read_state(self, data)
