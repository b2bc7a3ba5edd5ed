"""The guide of a first game: a line for each thing when it happens for the first time."""

from __future__ import annotations

from collections.abc import Iterable

from catbox_env import Event

#: The seed of the deal that is guided: much happens in it.
SEED = 3
#: For each game, by the kind of an event, what a newcomer should know, a rule a line; "begin": before the first.
LINES = {
    "cat_in_the_box_v0": {
        "begin": "Cards have a number, but no colour yet. First choose the one that you set aside for good.",
        "discard": "Now bid: if you win exactly as many tricks, your largest connected group of tokens is a bonus.",
        "bid": "To play, choose a free cell: its column is the number of your card, its row the colour you declare."
        "\nRed is locked: nobody may lead it before somebody has played it.",
        "play": "The cell has that player's token now: nobody else can play this card in this colour.",
        "x_token_lost": "Whoever does not follow the led colour gives up its X-token, and never declares that colour "
        "again in this round.",
        "trump_broken": "Red is trump: it beats every other colour, but cannot be led before somebody has played it.",
        "trick_won": "The highest red card wins the trick, or else the highest of the led colour. The winner leads.",
        "paradox": "None of these cards can have any colour: a paradox. It ends the round, and costs a point for each "
        "trick won.",
        "score": "A point for each trick, and the bonus where the bid was hit.",
    },
    "cat_te_v0": {
        "begin": "Six tricks, no trump. Only the last one pays, so keep the cards that can win it.",
        "play": "Follow the led suit, or fold. The highest card of the led suit wins the trick.",
        "fold": "A folded card lies face down: it cannot win, and nobody else ever sees it.",
        "trick_won": "The winner leads the next trick.",
        "eliminated": "Whoever has won none of the first four tricks is out.",
        "choose": "In the blind trick the others choose face down, and all cards are shown together.",
        "claim": "Whoever has the card above the upturned one may claim the side pot.",
        "score": "The winner of the last trick takes an ante from everybody.",
    },
    "petrify_v0": {
        "begin": "The number under your pawn says how many steps you walk. If you cannot move, you turn to stone.",
        "move": "The tile where a walk began closes for good.",
        "teleport": "A teleport takes a pawn on, to a free tile of its colour.",
        "rotation": "A zero moves every pawn to where the next player's stood.",
        "petrified": "No walk of the right length was left: this pawn is stone, and stays in the way.",
    },
}
#: The part of the picture that is meant, by how its label begins; "": in all other cases.
PARTS = {
    "cat_in_the_box_v0": {
        "": "players",
        "begin": "your hand",
        "bid": "research board",
        "play": "research board",
        "trump_broken": "red, trump",
        "trick_won": "last trick",
    },
    "cat_te_v0": {"": "tricks", "play": "hand", "claim": "side pot", "score": "antes"},
    "petrify_v0": {"": "board"},
}


class Guide:
    """What to tell a newcomer to a game, pairs (part of the picture, rule), each once. ``begin``: the first."""

    def __init__(self, game_id: str) -> None:
        self._lines, self._parts = dict(LINES.get(game_id, {})), PARTS.get(game_id, {})
        self.begin = self._about("begin")

    def lines(self, events: Iterable[Event]) -> list[tuple[str, str]]:
        """What ``events`` show for the first time."""
        return [line for event in events for line in self._about(event.kind)]

    def _about(self, kind: str) -> list[tuple[str, str]]:
        """What there is to say about a kind of events, once."""
        lines = self._lines.pop(kind, "").splitlines()
        return [(self._parts.get(kind, self._parts[""]), line) for line in lines]
