"""A game on a real table, followed from one seat: a line of text for each thing that happens.

`catbox advise` asks for the lines at the terminal, and a page of `catbox web` for advice sends them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from catbox_agents.settings import parse_value
from catbox_app.rules import fits, parse_action
from catbox_app.seen import apply_as_seen, begin_as_seen, possible_actions
from catbox_env import Event, Game, GameState
from catbox_env.core.checks import check_seat, short_repr
from catbox_env.core.kernels import HIDDEN

#: What is asked about the deal of a later round.
WINNER, CARDS = "the seat that won the round", "your new cards"


def seen_deal(game: Game, seat: int, text: str) -> Any:
    """What ``seat`` sees of a deal, from text: its cards, and in a second line those turned up; or the rows of a board,
    with a seat after the tile where it stands: ``2.3@0 W *``. A ``/`` ends a line, too.
    """
    lines = [line.strip() for line in text.replace("/", "\n").splitlines() if line.strip()]
    draws: Any = game.draws
    if hasattr(draws, "make_deal"):  # a card game
        own, shown = [*map(_cards, lines[:2]), [], []][:2]
        if len(own) != (size := draws.sizes[0]):
            raise ValueError(f"enter your {size} cards: these are {len(own)}")
        hands: Any = [own if other == seat else None for other in range(game.num_players)]
        return draws.make_deal(hands, shown, None)
    tiles = [[word.partition("@")[0] for word in line.split()] for line in lines]
    seats = [word.partition("@")[2] for line in lines for word in line.split()]
    expected = [str(other) for other in range(game.num_players)]
    if sorted(filter(None, seats)) != expected:
        wanted = ", ".join(f"@{other}" for other in expected)
        raise ValueError(
            f"board {short_repr(text)}: expected {wanted} after the tiles where the players stand"
        )
    return {"tiles": tiles, "positions": [seats.index(other) for other in expected]}


def _cards(text: str) -> list[Any]:
    found = parse_value(text.replace(" ", ",") if "," not in text else text)
    return found if isinstance(found, list) else [found]


class RealTable:
    """A game that is played elsewhere, followed from ``seat``.

    ``deal``: what ``seat`` sees of the first deal, as `seen_deal` returns or `catbox_app.seen.state_as_seen` takes it.

    Attributes:
        states: worlds that agree with what ``seat`` saw at the beginning and after each action.
        opening: what ``seat`` sees before the first line: nobody enters what can only be face down.
    """

    def __init__(self, game: Game, seat: int, deal: Any) -> None:
        if game.options.get("start_player") == "random":
            raise ValueError("start_player=random: say who starts, such as start_player=1")
        self.game, self.seat, self.random = game, seat, np.random.default_rng(0)
        self.states = [begin_as_seen(game, seat, deal, self.random)]
        self._tells_winner = hasattr(deal, "dealer")  # Cat Te, whose last cards are revealed, but not entered
        self._ending: int | None = None  # the action that ends a round, until the next deal is known
        self._winner: int | None = None
        self._before: list[tuple[int, int | None, int | None]] = []  # what `undo` restores, for each line
        self.opening = self._face_down()

    @property
    def state(self) -> GameState:
        """The position before the next action."""
        return self.states[-1]

    @property
    def shown(self) -> GameState:
        """The position to show: at the end the one before, if the end depends on cards that nobody entered."""
        return self.states[-2] if self.state.is_terminal() and self._tells_winner else self.state

    @property
    def question(self) -> str:
        """What the next line answers; ``""``: it says what the seat to move does."""
        if self._ending is None:
            return ""
        if self._tells_winner and self._winner is None:
            return WINNER
        turns_up = self.game.draws.sizes[-1]  # type: ignore[union-attr]  # only card games have rounds
        return f"{CARDS} / the cards turned up" if turns_up else CARDS

    def enter(self, text: str) -> Sequence[Event]:
        """Take the next line: an action as typed, ``""`` for one that ``seat`` does not see, or the answer to
        ``question``. Returns what ``seat`` sees of it.

        Raises ``ValueError`` for what cannot be, and changes nothing.
        """
        before = len(self.states), self._ending, self._winner
        if self._ending is not None:
            self._answer(text)
            told: Sequence[Event] = []
        elif self.state.is_terminal():
            raise ValueError("the game is over")
        else:
            told = self._take(self._action_of(text))
        self._before.append(before)
        return [*told, *self._face_down()]

    def _face_down(self) -> list[Event]:
        """Take the actions of others that can only be face down."""
        told: list[Event] = []
        while not self.question and not self.state.is_terminal() and self.possible() == [HIDDEN]:
            told += self._take(HIDDEN)
        return told

    def _take(self, action: int) -> Sequence[Event]:
        step = apply_as_seen(self.state, self.seat, action, self.random)
        ends = step.after.round_ended
        if ends and not step.after.is_terminal():
            self._ending = action
        else:
            self.states.append(step.after)
        told = self.game.events(*step, self.seat)
        # What follows the last action shows the cards of all, which are not known here.
        return told[:1] if ends and not self.game.is_perfect_information else told

    def _answer(self, text: str) -> None:
        """Take the answer to ``question``; the cards begin the next round."""
        assert self._ending is not None
        if self.question == WINNER:
            self._winner = check_seat(WINNER, parse_value(text), self.game.num_players)
            return
        deal = seen_deal(self.game, self.seat, text)
        begin_as_seen(self.game, self.seat, deal, self.random)  # says what is wrong before worlds are sampled
        if self._tells_winner:
            deal = replace(deal, dealer=self._winner)
        self.states.append(apply_as_seen(self.state, self.seat, self._ending, self.random, deal).after)
        self._ending = self._winner = None

    def undo(self) -> None:
        """Take back the last line. Raises ``ValueError`` at the beginning."""
        if not self._before:
            raise ValueError("nothing has happened yet")
        length, self._ending, self._winner = self._before.pop()
        del self.states[length:]

    def possible(self) -> list[int]:
        """What the seat to move may do, as far as ``seat`` knows; `HIDDEN`: something that ``seat`` does not see."""
        return possible_actions(self.state, self.seat, self.random)

    def _action_of(self, text: str) -> int:
        """The action of the seat to move that ``text`` means. What is rare among sampled worlds may happen, too."""
        if self.state.current_player == self.seat:
            return parse_action(self.state, text)
        if text == "":
            return HIDDEN
        names = map(self.game.action_to_string, range(self.game.num_actions))
        fitting = [action for action, name in enumerate(names) if text == f"#{action}" or fits(text, name)]
        possible = (
            fitting if len(fitting) == 1 else [action for action in self.possible() if action != HIDDEN]
        )
        return parse_action(self.state, text, possible)
