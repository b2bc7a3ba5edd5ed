"""The guide of a first game: a line for each thing when it happens for the first time."""

from __future__ import annotations

from collections.abc import Iterable

from catbox_env import Event

#: The seed of the deal that is guided: much happens in it.
SEED = 3
#: For each game, by the kind of an event, what a newcomer should know, each with the part of the picture that is meant
#: (how its label begins); "begin": before the first.
LINES = {
    "cat_in_the_box_v0": {
        "begin": [
            ("your hand", "Cards have a number, but no colour yet. First choose the one that you set aside for good.")
        ],
        "discard": [
            (
                "players",
                "Now bid: if you win exactly as many tricks, your largest connected group of tokens counts as a bonus.",
            ),
        ],
        "bid": [
            (
                "research board",
                "To play, choose a free cell: its column is the number of your card, its row the colour that you "
                "declare.",
            ),
            ("red, trump", "Red is locked: nobody may lead it before somebody has played it."),
        ],
        "play": [
            (
                "research board",
                "The cell has that player's token now: nobody else can play this card in this colour.",
            )
        ],
        "x_token_lost": [
            (
                "players",
                "Whoever does not follow the led colour gives up its X-token, and never declares that colour again in "
                "this round.",
            )
        ],
        "trump_broken": [
            (
                "red, trump",
                "Red is trump: it beats every other colour, but cannot be led before somebody has played it.",
            )
        ],
        "trick_won": [
            (
                "last trick",
                "The highest red card wins the trick, or else the highest of the led colour. The winner leads.",
            )
        ],
        "paradox": [
            (
                "players",
                "None of these cards can have any colour: a paradox. It ends the round, and costs a point for each "
                "trick won.",
            )
        ],
        "score": [("players", "A point for each trick, and the bonus where the bid was hit.")],
    },
    "cat_te_v0": {
        "begin": [("tricks", "Six tricks, no trump. Only the last one pays, so keep the cards that can win it.")],
        "play": [("hand", "Follow the led suit, or fold. The highest card of the led suit wins the trick.")],
        "fold": [("tricks", "A folded card lies face down: it cannot win, and nobody else ever sees it.")],
        "trick_won": [("tricks", "The winner leads the next trick.")],
        "eliminated": [("tricks", "Whoever has won none of the first four tricks is out.")],
        "choose": [
            ("tricks", "In the blind trick the others choose face down, and all cards are shown together.")
        ],
        "claim": [("antes", "Whoever has the card above the upturned one may claim the side pot.")],
        "score": [("antes", "The winner of the last trick takes an ante from everybody.")],
    },
    "petrify_v0": {
        "begin": [
            ("board", "The number under your pawn says how many steps you walk. If you cannot move, you turn to stone.")
        ],
        "move": [("board", "The tile where a walk began closes for good.")],
        "teleport": [("board", "A teleport takes a pawn on, to a free tile of its colour.")],
        "rotation": [("board", "A zero moves every pawn to where the next player's stood.")],
        "petrified": [
            ("board", "No walk of the right length was left: this pawn is stone, and stays in the way.")
        ],
    },
}


class Guide:
    """What to tell a newcomer to a game, as in `LINES`, each line once. ``begin`` are the first."""

    def __init__(self, game_id: str) -> None:
        self._lines = dict(LINES.get(game_id, {}))
        self.begin = self._lines.pop("begin", [])

    def lines(self, events: Iterable[Event]) -> list[tuple[str, str]]:
        """What ``events`` show for the first time."""
        return [line for event in events for line in self._lines.pop(event.kind, [])]
