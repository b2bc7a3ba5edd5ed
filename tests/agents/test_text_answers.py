"""Answers in words: every legal action can be said, and what is no action is told apart."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

import catbox_env
from catbox_agents.text import parse_action
from catbox_agents.text.answers import ILLEGAL, UNKNOWN, UNPARSABLE
from catbox_env import Game, GameState
from catbox_env.core.state import illegal_reason
from tests.agents.test_text_observation import positions

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("cat_in_the_box_v0", {"num_players": 5}),
    ("cat_te_v0", {"num_players": 4, "side_pot": 1}),
    ("petrify_v0", {"num_players": 4, "size": 5, "teleports": 3, "zeros": 1}),
]
FAILURES = {UNPARSABLE, UNKNOWN, ILLEGAL}


def said(name: str) -> list[str]:
    """Ways to say an action."""
    return [
        json.dumps({"action": name}),
        f'Not {{"action": "pass"}}, but:\n```json\n{{"why": {{"a": 1}}, "action": "{name.upper()}"}}\n```\nDone.',
        f"I think {{about}} it.\n\n  {name.replace(' ', '  ')} \n",
    ]


def check_round_trip(game: Game, count: int) -> None:
    """Every legal action of so many positions, said in words, is that action."""
    found, seed = 0, 0
    while found < count:
        seed += 1
        for state in positions(game, seed):
            found += 1
            mask = state.action_mask()
            for action in range(game.num_actions) if found % 50 == 0 else np.flatnonzero(mask).tolist():
                ways = said(game.action_to_string(action))
                parsed = parse_action(ways[(found + action) % len(ways)], state)
                if mask[action]:
                    assert (parsed.action, parsed.failure, parsed.message) == (action, None, "")
                else:
                    why = illegal_reason(state, action)
                    assert (parsed.action, parsed.failure) == (None, ILLEGAL)
                    assert parsed.message == f"Illegal: {why}."


@pytest.mark.parametrize(("game_id", "options"), GAMES)
def test_every_legal_action_can_be_said_in_words(game_id: str, options: dict[str, Any]) -> None:
    check_round_trip(catbox_env.make_game(game_id, **options), 60)


@pytest.mark.slow
@pytest.mark.parametrize(("game_id", "options"), GAMES)
def test_so_can_those_of_three_thousand_positions(game_id: str, options: dict[str, Any]) -> None:
    check_round_trip(catbox_env.make_game(game_id, **options), 3_000)


def start() -> GameState:
    """Player 0 is to discard; it has no 1."""
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    hands = [[2, 2, 3, 3, 4, 4, 5, 5, 6, 6], [1, 1, 1, 1, 1, 2, 2, 2, 3, 3], [3, 4, 4, 4, 5, 5, 5, 6, 6, 6]]
    return game.new_initial_state(seed=0, deal={"hands": hands})


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("", UNPARSABLE, "no JSON object, and its last line is not the name of an action. End your answer with"),
        (None, UNPARSABLE, "no JSON object"),
        ("discard 2, I think", UNPARSABLE, "no JSON object"),
        ("discard 2\nThat is my choice.", UNPARSABLE, "no JSON object"),
        ("The action is discard 2", UNPARSABLE, "no JSON object"),
        ('{"action": discard 2}', UNPARSABLE, "no JSON object"),
        ('{"action": "discard 2"', UNPARSABLE, "no JSON object"),
        ('["discard 2"]', UNPARSABLE, "no JSON object"),
        ('{"action": 2}', UNPARSABLE, "the last JSON object {'action': 2} has no text \"action\"."),
        ('{"move": "discard 2"}', UNPARSABLE, 'has no text "action"'),
        ('{"action": "discard 2"} {"sure": true}', UNPARSABLE, 'has no text "action"'),
        ('{"answer": {"action": "discard 2"}}', UNPARSABLE, 'has no text "action"'),
        ("discard 9", UNPARSABLE, "no JSON object"),
        ('{"action": "discard 9"}', UNKNOWN, "unknown action 'discard 9'"),
        ('{"action": "2"}', UNKNOWN, "unknown action '2'"),
        ('{"action": ""}', UNKNOWN, "unknown action ''"),
        ('{"action": "discard 2 or 3"}', UNKNOWN, "unknown action"),
        ('{"action": "discrad 2"}', UNKNOWN, "did you mean 'discard 2'"),
        ('{"action": "discard 1"}', ILLEGAL, "discard 1: player_0 has no 1."),
        ("play red 2", ILLEGAL, "play red 2: this is the time to discard, not to play."),
        ('{"action": "discard 2"} then {"action": "paradox"}', ILLEGAL, "paradox: this is the time to discard"),
    ],
)  # fmt: skip
def test_what_is_no_legal_action_is_told_apart(text: Any, kind: str, message: str) -> None:
    parsed = parse_action(text, start())
    assert (parsed.action, parsed.failure) == (None, kind)
    assert message in parsed.message
    assert parsed.message.startswith(f"{kind.capitalize()}: ")


def test_the_last_object_counts_and_an_object_goes_before_a_line() -> None:
    state = start()
    two, three = (state.game.string_to_action(f"discard {rank}") for rank in (2, 3))
    assert parse_action('{"action": "discard 2"} no: {"action": "discard 3"}', state).action == three
    assert parse_action('{"action": "discard 2"}\ndiscard 3', state).action == two
    assert parse_action('{"action": "discard 2", "why": {"action": "discard 3"}}', state).action == two
    assert parse_action("discard 2\n\ndiscard 3\n", state).action == three
    assert parse_action("x" * 20_000 + '{"action": "discard 3"}', state).action == three
    assert parse_action('{"action": "discard 3"}' + "x" * 20_000, state).failure == UNPARSABLE


def test_an_observation_is_enough() -> None:
    state = start()
    seen = state.observation(0)
    for text in ("discard 2", "discard 1", '{"action": "jump"}', "jump"):
        assert parse_action(text, seen, game=state.game) == parse_action(text, state)


def malformed(rng: np.random.Generator, game: Game) -> str:
    """An answer as it should not be: a valid one with damage, or rubbish."""
    ways = said(game.action_to_string(int(rng.integers(game.num_actions))))
    text = ways[rng.integers(len(ways))]
    rubbish = [
        "{", "}", "[", '"', "\\", "\\ud800", "\ud800", "\x00", "\n", " ", ":", ",", "null", "NaN", "1e999", "9" * 5000,
        '{"action": ', '{"action": null}', '{"action": ["play"]}', '{"a":' * 20, "[" * 20, "{" * 20, "\u00e9", "\u0663",
        "\U0001f408", "\u017f", "\u0130", "\u2028", "\x85", "discard", "action", "play red", "{}", "}{", "```",
    ]  # fmt: skip
    for _ in range(int(rng.integers(1, 5))):
        first, last = sorted(rng.integers(len(text) + 1, size=2).tolist())
        last = min(last, first + int(rng.integers(12)))
        text = text[:first] + rubbish[rng.integers(len(rubbish))] * int(rng.integers(3)) + text[last:]
    return text


def check_malformed(game: Game, count: int) -> None:
    """So many malformed answers break nothing, and each is of one kind."""
    rng = np.random.default_rng(4)
    counts: Counter[str] = Counter()
    states = list(positions(game, seed=3))[::4]
    for number in range(count):
        state = states[number % len(states)]
        text = malformed(rng, game)
        parsed = parse_action(text, state)
        if parsed.action is None:
            assert parsed.failure in FAILURES
            assert parsed.message.encode()
            counts[parsed.failure] += 1
        else:  # the damage was elsewhere: the text still names the action
            assert state.action_mask()[parsed.action]
            assert game.action_to_string(parsed.action).lower() in " ".join(text.lower().split())
            counts["legal"] += 1
    assert sum(counts.values()) == count
    assert all(counts[kind] > count / 50 for kind in FAILURES), counts


@pytest.mark.parametrize(("game_id", "options"), GAMES)
def test_no_malformed_answer_breaks_anything_and_each_is_of_one_kind(
    game_id: str, options: dict[str, Any]
) -> None:
    check_malformed(catbox_env.make_game(game_id, **options), 500)


@pytest.mark.slow
@pytest.mark.parametrize(("game_id", "options"), GAMES)
def test_nor_do_three_thousand_of_them(game_id: str, options: dict[str, Any]) -> None:
    check_malformed(catbox_env.make_game(game_id, **options), 3_000)


def test_answers_of_any_depth_and_length_are_read() -> None:
    state = start()
    good = '{"action": "discard 2"}'
    for bad in (
        '{"a":' * 2_000,
        "[" * 9_000,
        "{" * 9_000,
        '{"a": ' + "9" * 5_000 + "}",
        '{"a": ' + "[" * 9_000,
    ):
        assert parse_action(bad, state).failure == UNPARSABLE
        assert parse_action(f"{bad} {good}", state).action == state.game.string_to_action("discard 2")
