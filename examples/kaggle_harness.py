"""Every game of catbox for Kaggle's harness for OpenSpiel: the three functions that it asks of a game, and a stand-in
for the harness, which plays a game: moves, prompt, answer, up to two new tries.

pip install -e '.[spiel]'
python examples/kaggle_harness.py

The functions take the observations of its environment ``open_spiel_NAME``: ``playerId``, ``legalActions``,
``legalActionStrings`` and ``serializedGameAndState``. The last one holds all cards, and is a pickle: take it only from
a host that you trust. A prompt tells what its player sees, and nothing else.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyspiel

from catbox_agents.text import parse_action, text_observation
from catbox_env.adapters.openspiel import SpielState  # registers the games

GAME = "python_cat_in_the_box(players=3)"
TRIES = 3


@dataclass(frozen=True)
class ParseResult:
    """What an answer said, under the names of Kaggle's class: the name of a legal action, None without any; the name in
    the answer, legal or not, None without any."""

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
    """
    _, spiel_state = pyspiel.deserialize_game_and_state(observation["serializedGameAndState"])
    if not isinstance(spiel_state, SpielState):
        raise ValueError(f"expected a state of a catbox game, got one of {spiel_state.get_game()}")
    if spiel_state.is_chance_node():
        raise ValueError("expected a state in which a player is to move; the cards are being dealt")
    state, seat = spiel_state.game_state, observation["playerId"]
    prompt = text_observation(state, seat, history=state.history_observation(seat))
    if previous_response is None:
        return prompt
    return f"{prompt}\n\nYour last answer was not a legal action. {parse_action(previous_response, state).message}"


def parse_response(response: str, legal_action_strings: Sequence[str]) -> ParseResult:
    """The action that the last JSON object names, or without any the last line. Case and extra spaces do not matter."""
    objects = re.findall(r"\{[^{}]*\}", response)
    lines = [line for line in response.splitlines() if line.strip()]
    try:
        name = json.loads(objects[-1]).get("action") if objects else lines[-1]
    except (ValueError, IndexError):  # no JSON, no line
        name = None
    if not isinstance(name, str):
        return ParseResult()
    by_words = {" ".join(legal.casefold().split()): legal for legal in legal_action_strings}
    return ParseResult(by_words.get(" ".join(name.casefold().split())), name)


def observe(game: Any, state: Any) -> dict[str, Any]:
    """What Kaggle's environment shows to the player to move."""
    player, actions = state.current_player(), state.legal_actions()
    return {
        "playerId": player,
        "legalActions": actions,
        "legalActionStrings": [state.action_to_string(player, action) for action in actions],
        "serializedGameAndState": pyspiel.serialize_game_and_state(game, state),
    }


def decide(observation: dict[str, Any], model: Callable[[str], str]) -> int:
    """The action of a model; -1 if none of its answers was legal."""
    moves = get_legal_moves(observation)
    answer, wrong = None, None
    for _ in range(TRIES):
        answer = model(generate_prompt(observation, [], answer, wrong))
        parsed = parse_response(answer, list(moves.values()))
        if parsed.legal_action is not None:
            return next(action for action, name in moves.items() if name == parsed.legal_action)
        wrong = parsed.raw_action
    return -1


def stand_in(names: list[str], rng: random.Random) -> Callable[[str], str]:
    """In place of a model: a random legal answer to any prompt."""
    return lambda prompt: json.dumps({"action": rng.choice(names)})


def main() -> None:
    rng = random.Random(1)
    game = pyspiel.load_game(GAME)
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            draws, chances = zip(*state.chance_outcomes(), strict=True)
            action = rng.choices(draws, chances)[0]
        else:
            observation = observe(game, state)
            action = decide(observation, stand_in(observation["legalActionStrings"], rng))
        state.apply_action(action)
    print(state)
    print("returns:", state.returns())


if __name__ == "__main__":
    main()
