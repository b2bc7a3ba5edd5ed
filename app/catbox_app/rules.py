"""Games in words: titles, what each rule means, actions as people type them, the command that plays a game again."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from typing import Any

import catbox_env
from catbox_env import Game, GameState
from catbox_env.core.checks import check_action, short_repr
from catbox_env.core.state import illegal_reason
from catbox_env.registry import game_class

DEFAULT_GAME = "cat_in_the_box_v0"
#: Each game in a sentence, for people who do not know it.
ABOUT = {
    "cat_in_the_box_v0": "A trick-taking game in which a card has no colour until you play it.",
    "cat_te_v0": "Six tricks, no trump: follow suit or fold, because only the last trick pays.",
    "petrify_v0": "Walk over tiles that close behind you; if you cannot move, you turn to stone.",
}
#: The default reward: agents are compared by it.
REWARD = "margin"
#: The largest number of players to try.
MAX_PLAYERS = 10
#: The most actions to name in the answer to a text that is not one legal action.
MAX_SUGGESTED = 8
#: The most legal actions to name as examples.
MAX_EXAMPLES = 3
#: The verbs whose second person is not the third without its "s" (as in web/static/names.js).
SECOND_PERSON = {"does": "do", "has": "have", "is": "are"}


@dataclass(frozen=True)
class RuleField:
    """A field of a ``Rules`` as its class describes it.

    Attributes:
        kind: its type as written, without spaces.
        default: None if there is none.
        words: the values of a text, which the description quotes.
        help: the description, capitalised.
    """

    name: str
    kind: str
    default: Any
    words: list[str]
    help: str


def described(docstring: str | None, heading: str = "Attributes") -> dict[str, str]:
    """What a docstring says, capitalised, of each name in the list below ``heading``."""
    text = inspect.cleandoc(docstring or "").partition(f"\n{heading}:\n")[2].partition("\n\n")[0]
    found: dict[str, str] = {}
    for names, words in re.findall(r"^    (\w+(?:, \w+)*): (.*(?:\n     .*)*)", text, re.MULTILINE):
        told = " ".join(words.replace("``", "").split())
        found |= dict.fromkeys(names.split(", "), told[:1].upper() + told[1:])
    return found


def rule_fields(game_id: str) -> dict[str, RuleField]:
    """The rules of a game by name, in the order of its ``Rules``, as its docstring describes them."""
    rules_class = game_class(game_id).rules_class
    helps = described(rules_class.__doc__)
    found = {}
    for field in fields(rules_class):
        told = helps.get(field.name, "")
        found[field.name] = RuleField(
            field.name,
            kind=str(getattr(field.type, "__name__", field.type)).replace(" ", ""),
            default=None if field.default is MISSING else field.default,
            words=re.findall(r'"(\w+)"', told),
            help=told,
        )
    return found


def deal_cards(game: Game) -> dict[str, Any]:
    """What one sees of a deal: ``words``: how to type it (`catbox_app.real_table.seen_deal`); ``cards``, suit by suit,
    with ``copies`` of each; ``sizes``: of a hand, and of the cards turned up; ``columns``: of a board, whose tiles are
    the ``cards``, else 0.
    """
    draws: Any = game.draws
    if not hasattr(draws, "make_deal"):
        words = (
            "The rows of the board, such as 2.3@0 W *: number 2 of colour 3, where the first player stands, a wall, a "
            "wildcard; 0 is a zero, T1 a teleport of colour 1."
        )
        tiles = getattr(game.rules, "tile_names", [])
        size = getattr(game.rules, "size", 0)
        return {"words": words, "cards": tiles, "copies": size**2, "sizes": [size**2, 0], "columns": size}
    names = sorted(map(draws.card_to_string, draws.cards), key=lambda name: name.lstrip("0123456789JQKA"))
    words = f"All your cards, such as {' '.join(names[:3])}; in a second line those turned up, if any."
    return {
        "words": words,
        "cards": names,
        "copies": draws.copies,
        "sizes": [draws.sizes[0], draws.sizes[-1]],
        "columns": 0,
    }


def player_counts(game_id: str) -> list[int]:
    """The numbers of players, up to `MAX_PLAYERS`, that a game accepts."""
    found = []
    for players in range(1, MAX_PLAYERS + 1):
        with suppress(ValueError):
            found.append(catbox_env.make_game(game_id, num_players=players).num_players)
    return found


def command_line(command: str, agents: Sequence[str], game: Game, seed: int, seat: int = 0) -> str:
    """The command that plays ``game`` from ``seed`` again."""
    words = ["catbox", command, *agents, "--seed", str(seed)]
    if seat:
        words += ["--seat", str(seat)]
    if game.id != DEFAULT_GAME:
        words += ["--game", game.id]
    defaults = catbox_env.make_game(game.id, num_players=game.num_players, reward=REWARD).options
    if game.num_players != catbox_env.make_game(game.id).num_players:
        words += ["--players", str(game.num_players)]
    for name, value in game.options.items():
        if value != defaults[name]:
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            words += ["--rounds", text] if name == "rounds" else ["--rule", f"{name}={text}"]
    return shlex.join(words)


def parse_action(state: GameState, text: str, possible: Sequence[int] | None = None) -> int:
    """The action that a person means by ``text``: one of ``possible``, by default of the legal actions.

    An abbreviation must fit exactly one of them. Raises ValueError for any other text; the message says which of
    them it could mean, which rules forbid what it means, or else gives examples.
    """
    game, legal = state.game, state.legal_actions() if possible is None else possible
    wanted = text.strip().lower()
    if match := re.fullmatch(r"(?:#|id\s*)(\d+)", wanted):
        fitting = [check_action(int(match[1]), game.num_actions)]
    else:
        every = range(game.num_actions)
        fitting = [action for action in every if fits(wanted, game.action_to_string(action))]
    possible = [action for action in fitting if action in legal]
    if len(possible) == 1:
        return possible[0]
    if possible:
        more = ", ..." if len(possible) > MAX_SUGGESTED else ""
        named = ", ".join(game.action_to_string(action) for action in possible[:MAX_SUGGESTED])
        raise ValueError(f"{short_repr(text)} could be: {named}{more}; say more")
    if fitting:
        # Actions of another phase, such as a discard among plays, are left out if something else fits.
        verbs = {_verb(game, action) for action in legal}
        meant = [action for action in fitting if _verb(game, action) in verbs] or fitting
        reasons = [illegal_reason(state, action) for action in meant[:MAX_SUGGESTED]]
        if len(meant) > MAX_SUGGESTED:
            reasons.append(f"and {len(meant) - MAX_SUGGESTED} more")
        between = "\n  " if len(reasons) > 1 else " "
        raise ValueError(between.join(["not legal now:", *reasons]))
    if re.fullmatch(r"\d+", wanted) and int(wanted) < game.num_actions:
        number = int(wanted)
        raise ValueError(
            f"{number} alone is unclear: type #{number} for {game.action_to_string(number)}, its id"
        )
    examples = " or ".join(game.action_to_string(action) for action in legal[:MAX_EXAMPLES])
    wanted = f"an action, such as {examples}" if examples else "nothing: what happens now you do not see"
    raise ValueError(f"{short_repr(text)} is not understood: type {wanted}")


def _verb(game: Game, action: int) -> str:
    return game.action_to_string(action).partition(" ")[0]


def fits(wanted: str, name: str) -> bool:
    """Whether the words of ``wanted`` begin words of ``name``, in order; numbers have to be equal ("y7": "play
    yellow 7")."""
    words = iter(re.findall(r"[a-z]+|\d+|[^a-z\d\s]", name.lower()))
    given = re.findall(r"[a-z]+|\d+|[^a-z\d\s]", wanted.strip().lower())

    def begins(word: str, part: str) -> bool:
        return word == part if part.isdigit() else word.startswith(part)

    return bool(given) and all(any(begins(word, part) for word in words) for part in given)


def place_in_words(seat: int, places: Sequence[int]) -> str:
    """How ``seat`` finished, in words."""
    place, shared = places[seat], places.count(places[seat]) > 1
    if place == 1:
        return "You share the win" if shared else "You win"
    if len(places) == 2:
        return "You lose"
    ordinal = {2: "2nd", 3: "3rd"}.get(place, f"{place}th")
    return f"You share {ordinal} place" if shared else f"You finish {ordinal}"


def as_player(text: str, seat: int, names: Sequence[str]) -> str:
    """The text of an event, a position or a refusal for the player in ``seat``, who is "you" in it; the others have
    their ``names``. A row of a table keeps its width, and its seat, if they have at most six letters."""

    def second(match: re.Match[str]) -> str:
        verb = match[2]
        return match[1] + SECOND_PERSON.get(verb, verb.removesuffix("s"))

    def about_own(match: re.Match[str]) -> str:
        return second(match) + re.sub(
            r"(\b(?:and|or) )(claims|has|is|loses|stays|turns|wins)\b", second, match[3]
        )

    def name(match: re.Match[str]) -> str:
        other = int(match[2])
        called = "you" if other == seat else names[other % len(names)]
        return f"{match[1]}{other} {called:<6}" if match[1] else called

    own = f"player_{seat}"
    text = re.sub(r"\bseat (?=\d)", "player_", text)
    text = re.sub(rf"(?:a |the )?(hand|pawn|token) of {own}\b", r"your \1", text)
    text = re.sub(rf"({own} )([a-z]+)(.*)", about_own, text.replace(f"{own}'s", "your"))
    return re.sub(r"(^[> ] )?player_(\d+)", name, text)
