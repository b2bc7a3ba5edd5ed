"""A game of OpenSpiel, played as Kaggle's harness does: moves, prompt, answer, up to two new tries.

pip install "catbox-env[spiel]"
python examples/kaggle_harness.py
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pyspiel

from catbox_agents.text.hosts.kaggle import generate_prompt, get_legal_moves, parse_response

GAME = "python_cat_in_the_box(players=3)"
TRIES = 3


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
