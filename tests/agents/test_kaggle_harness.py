"""Kaggle's harness over the OpenSpiel games: whole games, wrong answers, and that nothing hidden is told."""

from __future__ import annotations

import json
import random
from typing import Any

import pyspiel
import pytest

from catbox_agents.text import text_observation
from catbox_env.adapters import openspiel
from examples import kaggle_harness
from examples.kaggle_harness import ParseResult, generate_prompt, get_legal_moves, parse_response

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("cat_in_the_box_v0", {"num_players": 3, "rounds": 2}),
    ("cat_te_v0", {"num_players": 3}),
    ("petrify_v0", {"num_players": 2, "size": 4}),
]


def dealt(game: Any, rng: random.Random) -> Any:
    """A state after the deal."""
    state = game.new_initial_state()
    while state.is_chance_node():
        draws, chances = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(rng.choices(draws, chances)[0])
    return state


@pytest.mark.parametrize(("game_id", "options"), GAMES)
def test_a_whole_game_of_legal_answers(game_id: str, options: dict[str, Any]) -> None:
    game, rng = openspiel.load(game_id, **options), random.Random(1)
    state = dealt(game, rng)
    while not state.is_terminal():
        if state.is_chance_node():
            draws, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(draws, chances)[0])
            continue
        observation = kaggle_harness.observe(game, state)
        moves = get_legal_moves(observation)
        assert list(moves) == state.legal_actions()
        prompt = generate_prompt(observation, [])
        seat, position = state.current_player(), state.game_state
        assert prompt == text_observation(position, seat, history=position.history_observation(seat))
        action = rng.choice(list(moves))
        answer = f"I think.\n{json.dumps({'action': moves[action].upper()})}"
        assert parse_response(answer, list(moves.values())) == ParseResult(
            moves[action], moves[action].upper()
        )
        assert kaggle_harness.decide(observation, lambda prompt, answer=answer: answer) == action
        state.apply_action(action)


def test_a_wrong_answer_is_told_why_and_the_third_ends_it() -> None:
    game = openspiel.load("cat_in_the_box_v0", num_players=3)
    observation = kaggle_harness.observe(game, dealt(game, random.Random(2)))
    answers, prompts = ['{"action": "bid 1"}', "hm", '{"action": "discard 99"}'], []

    def model(prompt: str) -> str:
        prompts.append(prompt)
        return answers[len(prompts) - 1]

    assert kaggle_harness.decide(observation, model) == -1
    said = "\n\nYour last answer was not a legal action. "
    assert prompts[1] == f"{prompts[0]}{said}Illegal: bid 1: this is the time to discard, not to bid."
    assert prompts[2].startswith(f"{prompts[0]}{said}Unparsable: ")
    legal = observation["legalActionStrings"]
    assert parse_response(answers[0], legal) == ParseResult(None, "bid 1")
    for nothing in ('{"action": 3}', "{action}", "", " "):
        assert parse_response(nothing, legal) == ParseResult(None, None)
    assert parse_response(f"so\n {legal[0]} ", legal).legal_action == legal[0]


def test_a_prompt_tells_nothing_that_is_hidden_from_its_player() -> None:
    """Two games that only differ in what the player cannot see."""
    game, rng = openspiel.load("cat_in_the_box_v0", num_players=3), random.Random(3)
    compared = 0
    for _ in range(10):
        state = dealt(game, rng)
        for _ in range(rng.randrange(3, 12)):
            state.apply_action(rng.choice(state.legal_actions()))
            if state.is_terminal():
                break
        else:
            other = state.resample_from_infostate(state.current_player(), rng.random)
            assert str(other) != str(state)
            prompts = [generate_prompt(kaggle_harness.observe(game, each), []) for each in (state, other)]
            assert prompts[0] == prompts[1]
            compared += 1
    assert compared > 5


def test_a_state_of_another_game_is_refused() -> None:
    game = pyspiel.load_game("kuhn_poker")
    state = dealt(game, random.Random(1))
    with pytest.raises(ValueError, match=r"expected a state of a catbox game, got one of kuhn_poker"):
        generate_prompt(kaggle_harness.observe(game, state), [])
    game = openspiel.load("cat_in_the_box_v0", num_players=3)
    undealt = pyspiel.serialize_game_and_state(game, game.new_initial_state())
    with pytest.raises(ValueError, match="the cards are being dealt"):
        generate_prompt({"playerId": 0, "serializedGameAndState": undealt}, [])


def test_the_example_plays_a_game(capsys: pytest.CaptureFixture[str]) -> None:
    kaggle_harness.main()
    assert "returns: [" in capsys.readouterr().out
