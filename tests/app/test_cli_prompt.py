"""`catbox prompt`: the prompt of a position, and its length."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import catbox_env
from catbox_agents.text import text_observation
from catbox_app.commands.prompt import count_tokens
from tests.agents.test_text_observation import positions
from tests.app.table import refused, run


def test_prompt_prints_a_position_and_the_lengths_of_both_forms() -> None:
    game = catbox_env.make_game("cat_te_v0", num_players=3, reward="margin")
    state = game.new_initial_state(seed=4)
    rng = np.random.default_rng(4)
    for _ in range(3):
        state.apply_action(int(rng.choice(state.legal_actions())))
    history = state.history_observation(state.current_player)
    long, short = (
        text_observation(state, form=form, history=history, list_actions=True) for form in ("long", "short")
    )
    command = [
        "prompt",
        "--game",
        "cat_te_v0",
        "-p",
        "3",
        "--seed",
        "4",
        "--moves",
        "3",
        "--history",
        "--list-actions",
    ]
    ran = run(*command)
    assert (ran.exit_code, ran.stdout) == (0, f"{long}\n"), ran.output
    rows = [line.split("│")[1:4] for line in ran.stderr.splitlines() if line.startswith("│")]
    found = [[cell.strip() for cell in row] for row in rows]
    assert found == [
        [name, str(len(text)), str(count_tokens(text))] for name, text in (("long", long), ("short", short))
    ]
    assert run(*command, "--form", "short").stdout == f"{short}\n"


def test_prompt_is_refused_what_it_cannot_show() -> None:
    assert "--moves 99: the game was over after" in refused("prompt", "-p", "3", "--moves", "99")
    assert "seat=3: expected a seat" in refused("prompt", "-p", "3", "--seat", "3")
    assert "--form='brief': expected one of 'long', 'short'" in refused("prompt", "--form", "brief")


def test_without_the_tokenizer_the_number_of_tokens_is_an_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a twentieth of the exact number, in every game and both forms."""
    texts = []
    for game_id in catbox_env.GAMES:
        for state in list(positions(catbox_env.make_game(game_id), seed=5))[::5]:
            texts += [text_observation(state, form=form) for form in ("long", "short")]
    exact = np.array([count_tokens(text) for text in texts])
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "bpe_openai" else find_spec(name)
    )
    about = np.array([count_tokens(text) for text in texts])
    assert (abs(about / exact - 1) < 0.05).all(), about / exact
    assert (about != exact).all()
    ran = run("prompt", "-p", "3")
    assert "tokens, about" in ran.stderr
    assert "pip install -e '.[tokens]'" in ran.stderr
