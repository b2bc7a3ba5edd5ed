"""The three functions that Kaggle's harness for OpenSpiel asks of a game, for every game of catbox; needs ``spiel``.

They take the observations of its environment ``open_spiel_NAME``: ``playerId``, ``legalActions``,
``legalActionStrings`` and ``serializedGameAndState``. The last one holds all cards, and is a pickle: take it only from
a host that you trust. A prompt tells what its player sees, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyspiel

from catbox_agents.text.answers import parse_action, read_answer
from catbox_agents.text.observation import text_observation
from catbox_env.adapters import openspiel  # registers the games

__all__ = ["ParseResult", "generate_prompt", "get_legal_moves", "parse_response"]


@dataclass(frozen=True)
class ParseResult:
    """What an answer said, under the names of Kaggle's class.

    Attributes:
        legal_action: the name of a legal action; None: the answer has none.
        raw_action: the name in the answer, legal or not; None: it has none.
    """

    legal_action: str | None = None
    raw_action: str | None = None


def get_legal_moves(observation: Mapping[str, Any]) -> dict[int, str]:
    """The id and the name of each legal action of the player; empty when it is not to move."""
    return dict(zip(observation["legalActions"], observation["legalActionStrings"], strict=True))


def generate_prompt(
    observation: Mapping[str, Any],
    move_history: Sequence[str],
    previous_response: str | None = None,
    previous_action: str | None = None,
) -> str:
    """The long form of `text_observation` with all actions so far, and what was wrong with ``previous_response``.

    ``move_history`` and ``previous_action`` are what the host passes; the state and the answer tell more.
    Raises ``ValueError`` for a state of another game, before the deal and after the end.
    """
    _, spiel_state = pyspiel.deserialize_game_and_state(observation["serializedGameAndState"])
    if not isinstance(spiel_state, openspiel.SpielState):
        raise ValueError(f"expected a state of a catbox game, got one of {spiel_state.get_game()}")
    state, seat = spiel_state.game_state, observation["playerId"]
    if spiel_state.is_chance_node():
        raise ValueError("expected a state in which a player is to move; the cards are being dealt")
    prompt = text_observation(state, seat, history=state.history_observation(seat))
    if previous_response is None:
        return prompt
    return f"{prompt}\n\nYour last answer was not a legal action. {parse_action(previous_response, state).message}"


def parse_response(response: str, legal_action_strings: Sequence[str]) -> ParseResult:
    """The action that the answer names, read as by `parse_action`: case and extra spaces do not matter."""
    found, _ = read_answer(response)
    name = found.get("action")
    if not isinstance(name, str) or not name.strip():
        return ParseResult()
    by_words = {" ".join(legal.casefold().split()): legal for legal in legal_action_strings}
    return ParseResult(by_words.get(" ".join(name.casefold().split())), name)
