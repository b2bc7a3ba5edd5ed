"""Actions as people type them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from catbox_env import Game, GameState
from catbox_env.core.checks import brief, check_action
from catbox_env.core.show import explain_refusal

#: The most actions to name in the answer to a text that is not one legal action.
MAX_SUGGESTED = 8
#: The most legal actions to name as examples.
MAX_EXAMPLES = 3


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
        raise ValueError(f"{brief(text)} could be: {named}{more}; say more")
    if fitting:
        # Actions of another phase, such as a discard among plays, are left out if something else fits.
        verbs = {_verb(game, action) for action in legal}
        meant = [action for action in fitting if _verb(game, action) in verbs] or fitting
        reasons = [explain_refusal(state, action) for action in meant[:MAX_SUGGESTED]]
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
    raise ValueError(
        f"{brief(text)} is not understood: type an action, such as {examples}; list shows all of them, and help what "
        "else you can type"
    )


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
