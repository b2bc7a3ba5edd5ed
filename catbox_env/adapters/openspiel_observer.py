"""What OpenSpiel players see, as named tensors and in words. Nothing here imports OpenSpiel."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catbox_env.core.checks import check_seat
from catbox_env.core.game import Game
from catbox_env.core.kernels import UNUSED
from catbox_env.core.layout import Layout
from catbox_env.core.game import GameState


class Beginning(NamedTuple):
    """What was seen when a round had been dealt; immutable, so that copies share it.

    Attributes: ``observations`` (P, O): what each player saw; ``states`` (P, S): everything, as seen from each seat.
    """

    observations: NDArray[np.int8]
    states: NDArray[np.int8]

    @classmethod
    def of(cls, state: GameState) -> Beginning:
        """The beginning that ``state`` shows, where a round begins."""
        players = range(state.game.num_players)
        return cls(
            np.stack([state.observation(player) for player in players]),
            np.stack([state.state_vector(player) for player in players]),
        )


class Play:
    """What a `SpielState` holds besides its history; cheap to copy.

    Attributes:
        state: the game under way; None until the first deal is complete.
        drawn: the draws of the deal under way; None while players move.
        beginnings: the rounds that have been dealt.
    """

    __slots__ = ("beginnings", "drawn", "state")

    def __init__(
        self, state: GameState | None, drawn: list[int] | None, beginnings: tuple[Beginning, ...]
    ) -> None:
        self.state, self.drawn, self.beginnings = state, drawn, beginnings

    def __deepcopy__(self, memo: dict) -> Play:
        state = None if self.state is None else self.state.__deepcopy__(memo)
        return Play(state, None if self.drawn is None else self.drawn.copy(), self.beginnings)


class Observer:
    """What a player sees of a `SpielState`, in OpenSpiel's observer interface: `set_from` fills the tensors.

    ``tensor`` (n,) float32 holds everything; ``dict`` has views of its pieces by name, in order:

    - ``player`` (P,): the observer, one-hot; left out if only public information was requested.
    - the parts of ``game.observation_layout``, seats relative to the player: the public ones, and the player's own
      hidden cards, as the observation type says. With the hidden cards of all players these parts are those of
      ``game.state_layout``. Public information alone is seen from player 0.
    - with perfect recall ``history`` (T, 2): rows of (relative seat, action), -1 for a hidden action, -2 for no action
      yet; and ``beginnings`` (R, n): these parts at the beginning of each of the R rounds.

    Until a deal is complete, the parts are zeros.
    """

    def __init__(
        self, game: Game, action_names: list[str], sees_public: bool, hidden: str, perfect_recall: bool
    ) -> None:
        """``hidden``: whose hidden cards are visible: ``"none"``, ``"own"`` or ``"all"``."""
        self.game, self.names = game, action_names
        self.all_hidden, self.own_hidden = hidden == "all", hidden == "own"
        self.layout = game.state_layout if self.all_hidden else game.observation_layout
        # Hidden cards have a row for each seat in the state.
        own, everything = game.observation_layout, game.state_layout
        shows_hidden = self.all_hidden or self.own_hidden
        self.parts = tuple(
            name
            for name in self.layout
            if (sees_public if own[name].shape == everything[name].shape else shows_hidden)
        )
        slices = [np.arange(self.layout.size)[self.layout[name].slice] for name in self.parts]
        self.places = np.concatenate([np.empty(0, np.int64), *slices]).astype(np.int64)
        pieces: list[tuple[str, tuple[int, ...]]] = []
        if shows_hidden:
            pieces.append(("player", (game.num_players,)))
        pieces += [(name, self.layout[name].shape) for name in self.parts]
        if perfect_recall:
            if sees_public:
                pieces.append(("history", (game.max_game_length, 2)))
            pieces.append(("beginnings", (game.num_rounds, len(self.places))))
        self.tensor = np.zeros(sum(prod(shape) for _, shape in pieces), np.float32)
        self.dict: dict[str, NDArray[np.float32]] = {}
        first = 0
        for name, shape in pieces:
            self.dict[name] = self.tensor[first : first + prod(shape)].reshape(shape)
            first += prod(shape)
        first = game.num_players if shows_hidden else 0
        self._now = self.tensor[first : first + len(self.places)]

    def set_from(self, state: Any, player: int) -> None:
        """Write what ``player`` sees into ``tensor``."""
        self.tensor.fill(0)
        player = self._seat(player)
        play = state.play
        if "player" in self.dict:
            self.dict["player"][player] = 1
        if play.drawn is None and play.state is not None:
            self._now[:] = self._seen(play.state, player)[self.places]
        if "history" in self.dict:
            self.dict["history"][:] = self._history(play.state, player)
        if "beginnings" in self.dict:
            for i, beginning in enumerate(play.beginnings):
                self.dict["beginnings"][i] = self._seen_at(beginning, player)[self.places]

    def string_from(self, state: Any, player: int) -> str:
        """What ``player`` sees, in words: the nonzero elements of each part, as ``index`` or ``index=value``."""
        player, play = self._seat(player), state.play
        lines = [f"player {player}"] if "player" in self.dict else []
        if play.drawn is None and play.state is not None:
            now = text_of(self.layout, self.parts, self._seen(play.state, player))
            lines.append(now)
        else:
            lines.append("to be dealt")
        if "beginnings" in self.dict:
            for i, beginning in enumerate(play.beginnings):
                seen = text_of(self.layout, self.parts, self._seen_at(beginning, player))
                lines.append(f"round {i + 1} began with {seen}")
        if "history" in self.dict:
            rows = self._history(play.state, player).tolist()
            taken = (f"{seat} {self.names[a] if a >= 0 else 'hidden'}" for seat, a in rows if seat != UNUSED)
            lines.append(f"actions: {', '.join(taken)}")
        return "\n".join(lines)

    def _seat(self, player: int) -> int:
        player = check_seat("player", player, self.game.num_players)
        return player if "player" in self.dict else 0

    def _seen(self, state: GameState, player: int) -> NDArray[np.int8]:
        return state.state_vector(player) if self.all_hidden else state.observation(player)

    def _seen_at(self, beginning: Beginning, player: int) -> NDArray[np.int8]:
        return (beginning.states if self.all_hidden else beginning.observations)[player]

    def _history(self, state: GameState | None, player: int) -> NDArray[np.int8]:
        """Rows (T, 2) of (relative seat, action), as the observation type shows them."""
        if state is None:
            return np.full((self.game.max_game_length, 2), UNUSED, np.int8)
        rows = state.history_observation(player)
        if not self.own_hidden:
            used = len(state.history())
            rows[:used, 1] = state.log[:used, 1 if self.all_hidden else 2]
        return rows


def text_of(layout: Layout, names: tuple[str, ...], vector: NDArray[np.int8]) -> str:
    """The nonzero elements of the parts ``names`` of ``vector``, in words."""
    words = []
    values = vector.tolist()
    for name in names:
        part = layout[name]
        items = [
            f"{i}" if value == 1 else f"{i}={value}"
            for i, value in enumerate(values[part.offset : part.offset + part.size])
            if value
        ]
        if items:
            words.append(f"{name} {' '.join(items)}")
    return "; ".join(words)
