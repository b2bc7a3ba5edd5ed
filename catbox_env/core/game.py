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
from catbox_env.core.picture import Sheet
from catbox_env.core.rng import GENERATOR, child_seeds, new_generators, seed_sequence
from catbox_env.core.sampling import checked_observations, fill_with_worlds, sample_worlds
from catbox_env.core.state import GameState, check_own_state, read_state

__all__ = ["Game", "GameState", "check_game_object"]


class Game(Shown):
    """A game under one rule set, and what is made of it: states, batches, worlds, texts, events and pictures.

    `GameDefinition` describes its attributes and what a new game has to declare, `Shown` how it is shown.
    """

    # States and batches.

    def new_initial_state(self, seed: Any = None, deal: Any = None) -> GameState:
        """The beginning of a game.

        Args:
            seed: an integer of 0 or more, a numpy ``SeedSequence``, or ``None`` (entropy of the system).
            deal: a given deal instead of a random one, in the game's own format. Later rounds are random.
        """
        generators = new_generators([seed_sequence(seed)])
        return self.initial_state_from(generators, deal)

    def initial_state_from(self, generators: np.ndarray, deal: Any = None) -> GameState:
        """As ``new_initial_state``, with a generator instead of a seed: array (1,), advanced in place.

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
            seed: as in ``new_initial_state``; the deals of later rounds come from it as well.
            history: int8 (T, 2), what that seat has seen of all actions: its ``history_observation``.
            beginnings: int8 (K, O), what it saw at the beginning of each round, the first ones first; None: what it saw
                only then, such as a card of an earlier round that it did not play, is sampled too. Needs ``history``.

        Without ``history`` the ``history()`` of the state begins empty. With it the state has a past: its ``history()``
        holds all actions since the beginning of the game, those of other seats that were hidden too, and its returns
        those of the earlier rounds. Then the state is sampled with its past, uniformly from all that agree with
        observation and history, cards of equal rank told apart: so what only the history tells counts, such as the
        order of play.

        Raises ``ValueError`` for a vector that no seat of this game can see, or that was made after the end; for a
        history that does not go with it, which is known after a million samples.
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
        """``count`` full states ("worlds"), each sampled as ``sample_state`` samples one, as a batch.

        Args:
            observation: int8 (O,), or (M, O): many observations, each of which gets ``count`` states of its own. Game
                ``i * count + k`` of the batch is then the k-th state of observation i.
            count: how many, at least 1.
            seed: as in ``sample_state``. Observation i of many gets the states that it would get alone with the seed
                ``SeedSequence(seed).spawn(M)[i]``.

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
        """As ``sample_states``, with a generator for each observation instead of a seed, and a number of states.

        Args:
            observations: (M, O) int8, M at least 1.
            counts: (M,) int64, how many states of each, at least 1. Those of one observation come one after the other.
            generators: (M,) records of ``core.rng.GENERATOR``, advanced in place.
            num_threads: of the batch that is returned.

        Errors as in ``sample_state``; they name the row.
        """
        return sample_worlds(self, observations, counts, generators, num_threads)

    def rewind(self, worlds: Vec, histories: np.ndarray, history_of: np.ndarray | None = None) -> Past:
        """Take worlds back to the beginning of their round, with a past that agrees with what a seat has seen.

        Args:
            worlds: N worlds, sampled by ``sample_states`` from what their seats to move see.
            histories: int8 (T, 2), or (M, T, 2): the histories of these seats, as ``vec.history`` has them.
            history_of: (N,) which of the M histories each world has; None: one for all, or world i has the i-th.

        Returns the worlds at the beginning, the actions since, and a weight for each: see `core.past.Past`. Actions of
        earlier rounds stay unknown. Raises ``ValueError`` for a game that hides nothing, for arrays of another shape
        and for histories that are not of these worlds, at this moment.
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
        """The state as pieces (text, style), with styles of rich and the hand of ``seat``, or every hand for ``None``.

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
        """What ``action`` did, in order: moves, tricks won and why, ends of rounds with their sums, winners.

        Args:
            before: the state in which the action was taken; not changed.
            action: the id of the action.
            after: the state to which it led. In a game of several rounds it may be the beginning of the next one: the
                events are of the round that has ended all the same.
            seat: who is told. It is told nothing that it does not see; None: everything is told.

        When a round ends, its cards are laid open to everybody. Raises ``ValueError`` for states of another game, for
        an ``after`` to which ``action`` does not lead, and for a seat that the game does not have.
        """
        action = check_step(self, before, action, after)
        viewer = seat if seat is None else check_seat("seat", seat, self.num_players)
        return self.tell_events(before, action, after, viewer)

    def render_svg(
        self, state: GameState, seat: int | None = None, size: int = 720, theme: str = "light"
    ) -> str:
        """The state as a picture: SVG text that needs nothing else.

        Args:
            state: of this game.
            seat: whose view: only what that seat sees is in the text. None: everything, all hands.
            size: width in pixels, 240 to 4096. Its height follows, and is the same for all states of a game.
            theme: ``"light"`` or ``"dark"``.

        Where the seat to move is looked at, each of its legal actions is one element with the role ``button``, the
        attribute ``data-action`` (the action's id) and an ``aria-label`` (its name). Raises ``ValueError`` for
        anything else than described.
        """
        check_own_state("state", state, self)
        seat = seat if seat is None else check_seat("seat", seat, self.num_players)
        return self.draw_picture(state, seat, Sheet(size, theme))

    def deserialize_state(self, data: bytes) -> GameState:
        """The state that ``GameState.serialize`` wrote.

        Raises ``ValueError`` for damaged data, for data of another game or rule set, naming the difference, and for a
        state from which the game cannot be played on.
        """
        return read_state(self, data)
