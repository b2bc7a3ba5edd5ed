"""The guide of a first game: a line for each thing when it happens for the first time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from catbox_env import Event

#: The seed of the deal that is guided: much happens in it.
SEED = 3
#: For each game, by the kind of an event, what a newcomer should know, a rule a line; "begin": before the first,
#: "trick_won 2": when that happens for the second time.
LINES = {
    "cat_in_the_box_v0": {
        "begin": "Cards have a number, but no colour yet. First choose the one that you set aside for good.",
        "discard": "Now bid: if you win exactly as many tricks, your largest connected group of tokens is a bonus.",
        "bid": "To play, choose a free cell: its column is the number of your card, its row the colour you declare."
        "\nRed is trump: it beats every other colour, but nobody may lead it before somebody has played it.",
        "play": "{player} has a token on {color} {rank} now: nobody can play that card in that colour any more.",
        "x_token_lost": "Whoever does not follow the led colour gives up its X-token, and never declares that colour "
        "again in this round.",
        "trick_won": "The highest red card wins the trick, or else the highest of the led colour. The winner leads.",
        "trick_won 2": "Beware of a paradox: when none of your cards can have any colour, the round ends, and each "
        "trick that you won costs you a point."
        "\nTokens of one player that touch are a group. Hit your bid, and each token of your largest group is a point.",
        "score": "A point for each trick, and the bonus where the bid was hit; whoever caused a paradox loses a point "
        "for each trick instead.",
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
#: The part of the picture that each line means, by how its label begins; "": in all other cases.
PARTS = {
    "cat_in_the_box_v0": {
        "": "players",
        "begin": "your hand",
        "discard": "bid ",
        "bid": "research board\nred",
        "play": "{color}",
        "x_token_lost": "{player},",
        "trick_won": "last trick",
        "trick_won 2": "your hand\nresearch board",
    },
    "cat_te_v0": {"": "tricks", "play": "hand", "claim": "side pot", "score": "antes"},
    "petrify_v0": {"": "board"},
}


class Guide:
    """What to tell a newcomer to a game, each once, as (part of the picture, rule, its number such as "4 of 10").
    ``begin``: the first."""

    def __init__(self, game_id: str) -> None:
        self._lines, self._parts = LINES.get(game_id, {}), PARTS.get(game_id, {})
        self._happened: Counter[str] = Counter()
        self._told, self._total = 0, sum(len(lines.splitlines()) for lines in self._lines.values())
        self.begin = self._about(Event("begin", None, ""))

    def lines(self, events: Iterable[Event]) -> list[tuple[str, str, str]]:
        """What ``events`` show for the first time."""
        return [line for event in events for line in self._about(event)]

    def _about(self, event: Event) -> list[tuple[str, str, str]]:
        """What there is to say about an event, once."""
        self._happened[event.kind] += 1
        key = f"{event.kind} {self._happened[event.kind]}".removesuffix(" 1")
        lines, parts = (
            text.format(player=f"player_{event.seat}", **event.data).splitlines()
            for text in (self._lines.get(key, ""), self._parts.get(key, self._parts.get("", "")))
        )
        places = [f"{self._told + number} of {self._total}" for number in range(1, len(lines) + 1)]
        self._told += len(lines)
        parts = parts or [""]
        return list(zip([*parts, *parts[-1:] * len(lines)], lines, places, strict=False))
