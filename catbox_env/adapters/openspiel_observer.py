"""What OpenSpiel players see, as named tensors and in words. Nothing here imports OpenSpiel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_env.core.checks import check_seat
from catbox_env.core.game import Game
from catbox_env.core.kernels import UNUSED
from catbox_env.core.layout import Layout, Part


class Observer:
    """What a player sees of a `SpielState`, in OpenSpiel's observer interface: `set_from` fills the tensors.

    ``tensor`` (n,) float32 holds everything; ``dict`` has views of its pieces by name, in order:

    - ``player`` (P,): the observer, one-hot; left out if only public information was requested.
    - the parts of ``game.observation_layout``, seats relative to the player: the public ones, and the player's own
      hidden cards, as the observation type says. With the hidden cards of all players these parts are those of
      ``game.state_layout``. Public information alone is seen from player 0. Zeros until a deal is complete.
    - with perfect recall and public information ``history`` (T, 2): rows of (relative seat, action), -1 for a hidden
      action, -2 for no action yet; and ``opened`` (R, S): the full state, laid out as ``game.state_layout``, at the
      beginning of each of the R rounds whose cards are open, zeros for the others.

    The cards of a round are open to all players when it ends, and ``history`` then has its hidden actions too. If
    nothing is hidden from the observer, they are open from the beginning.
    """

    def __init__(self, game: Game, action_names: Sequence[str], selected: Any) -> None:
        """``selected``: a ``pyspiel.IIGObservationType``."""
        self.game, self.names = game, action_names
        #: Whose hidden cards it sees: NONE, SINGLE_PLAYER, ALL_PLAYERS.
        self.hidden = selected.private_info.name
        self.sees_all = self.hidden == "ALL_PLAYERS" or game.is_perfect_information
        own, everything = game.observation_layout, game.state_layout
        self.layout = everything if self.hidden == "ALL_PLAYERS" else own
        # Hidden cards have a row for each seat in the state.
        public = {name for name in own if name in everything and own[name].shape == everything[name].shape}
        self.parts = [
            part
            for name, part in self.layout.items()
            if (selected.public_info if name in public else self.hidden != "NONE")
        ]
        everywhere = range(self.layout.size)
        self.places = np.array([place for part in self.parts for place in everywhere[part.slice]], np.int64)
        pieces = self.parts.copy()
        if self.hidden != "NONE":
            pieces.insert(0, Part("player", (game.num_players,), "the observer"))
        if selected.perfect_recall and selected.public_info:
            pieces.append(Part("history", (game.max_game_length, 2), "rows (relative seat, action)"))
            pieces.append(Part("opened", (game.num_rounds, everything.size), "the beginnings of rounds"))
        layout = Layout(pieces)
        self.tensor = np.zeros(layout.size, np.float32)
        self.dict = layout.unpack(self.tensor)

    def set_from(self, state: Any, player: int) -> None:
        """Write what ``player`` sees into ``tensor``."""
        self.tensor.fill(0)
        player, first = self._seat(player), 0
        if "player" in self.dict:
            self.dict["player"][player] = 1
            first = self.game.num_players
        if state.drawn is None:
            self.tensor[first : first + len(self.places)] = self._seen(state, player)[self.places]
        if "history" in self.dict:
            self.dict["history"][:], opened = self._past(state, player)
            self.dict["opened"][: len(opened)] = opened

    def string_from(self, state: Any, player: int) -> str:
        """What ``player`` sees, in words: the nonzero elements of each part, as ``index`` or ``index=value``."""
        player = self._seat(player)
        lines = [f"player {player}"] if "player" in self.dict else []
        lines.append(text_of(self.parts, self._seen(state, player)) if state.drawn is None else "to be dealt")
        if "history" in self.dict:
            history, opened = self._past(state, player)
            everything = self.game.state_layout.values()
            for i, vector in enumerate(opened):
                lines.append(f"round {i + 1} began with {text_of(everything, vector)}")
            rows = (row for row in history.tolist() if row[1] != UNUSED)
            taken = (f"{seat} {self.names[action] if action >= 0 else 'hidden'}" for seat, action in rows)
            lines.append(f"actions: {', '.join(taken)}")
        return "\n".join(lines)

    def _seat(self, player: int) -> int:
        player = check_seat("player", player, self.game.num_players)
        return player if "player" in self.dict else 0

    def _seen(self, state: Any, player: int) -> NDArray[np.int8]:
        see = state.game_state.state_vector if self.hidden == "ALL_PLAYERS" else state.game_state.observation
        return see(player)

    def _past(self, state: Any, player: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """The history (T, 2) as the observer knows it, and the full state at each beginning that is open, (n, S)."""
        game, game_state = self.game, state.game_state
        rows, log = game_state.history_observation(player), game_state._log
        starts = game_state._round_starts
        moves = game_state._records["num_moves"][0]
        if self.hidden == "NONE":
            rows[:moves, 1] = log[:moves, 2]
        if not (game_state.is_terminal() or (self.sees_all and state.drawn is None)):
            moves, starts = starts[-1]["num_moves"][0], starts[:-1]
        rows[:moves, 1] = log[:moves, 1]
        opened = np.empty((len(starts), game.state_layout.size), np.int8)
        for records, vector in zip(starts, opened, strict=True):
            game.loops.state_one(game.params, records, player, vector)
        return rows, opened


def text_of(parts: Iterable[Part], vector: NDArray[np.int8]) -> str:
    """The nonzero elements of ``parts`` of ``vector``, in words."""
    values, words = vector.tolist(), []
    for part in parts:
        elements = enumerate(values[part.slice])
        items = [f"{i}" if value == 1 else f"{i}={value}" for i, value in elements if value]
        if items:
            words.append(f"{part.name} {' '.join(items)}")
    return "; ".join(words)
