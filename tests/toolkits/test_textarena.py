"""TextArena: whole games with a model in every seat; each is told what its seat sees, and nothing else."""

from __future__ import annotations

import functools
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import textarena

import catbox_env
import examples.textarena_table  # noqa: F401  (registers the games)
from catbox_agents.text.text_game import reward_of
from catbox_env import Game
from examples.stand_in import StandIn
from tests.agents.hidden_pairs import hidden_pairs
from tests.toolkits.running import ROOT

GAMES: list[tuple[str, int, dict[str, Any]]] = [
    ("cat_in_the_box_v0", 4, {"rounds": 2, "reward": "margin"}),
    ("cat_te_v0", 3, {}),
    ("petrify_v0", 3, {"size": 5, "teleports": 3, "zeros": 1}),
]


@pytest.mark.parametrize(("game_id", "players", "options"), GAMES)
def test_a_whole_game_pays_every_seat_what_the_game_pays(
    game_id: str, players: int, options: dict[str, Any]
) -> None:
    game = catbox_env.make_game(game_id, num_players=players, **options)
    for seed in range(3):
        env = textarena.make(f"catbox/{game_id}", list_actions=True, **options)
        env.reset(num_players=players, seed=seed)
        state = game.new_initial_state(seed=np.random.SeedSequence(seed).spawn(1)[0])
        turns, done, models = [0] * players, False, [StandIn(seat) for seat in range(players)]
        while not done:
            player, text = env.get_observation()
            assert player == state.current_player
            assert text.lstrip().startswith(f"[GAME] You are player_{player} of {players} in a game of ")
            answer = models[player](text)
            state.apply_action(game.string_to_action(answer.split('"')[3]))
            turns[player] += 1
            done, _ = env.step(answer)
        assert state.is_terminal()
        rewards, infos = env.close()
        assert rewards == {seat: reward_of(game, paid) for seat, paid in enumerate(state.returns())}
        assert [infos[seat]["points"] for seat in range(players)] == state.returns()
        assert [infos[seat]["turn_count"] for seat in range(players)] == turns
        with pytest.raises(ValueError, match=r"call reset\(\)"):
            env.step("")


def test_the_global_generator_of_python_is_left_alone() -> None:
    random.seed(1)
    expected = random.random()
    random.seed(1)
    textarena.make("catbox/cat_in_the_box_v0").reset(num_players=3, seed=5)
    assert random.random() == expected


def test_its_wrapper_keeps_the_texts_of_earlier_games() -> None:
    env = textarena.make("catbox/cat_in_the_box_v0")
    env.reset(num_players=3, seed=5)
    _, first = env.get_observation()
    env.reset(num_players=3, seed=5)
    assert env.get_observation()[1] == first + first


def test_a_player_without_a_legal_answer_is_asked_again_and_then_loses() -> None:
    env = textarena.make("catbox/cat_in_the_box_v0", retries=1)
    env.reset(num_players=3, seed=1)
    first, _ = env.get_observation()
    done, _ = env.step("bid 1")
    player, text = env.get_observation()
    assert (player, done) == (first, False)
    assert "Illegal: bid 1: this is the time to discard, not to bid." in text
    done, _ = env.step("well")
    assert done
    rewards, infos = env.close()
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    assert rewards == {seat: 0.0 if seat == first else reward_of(game, 0.0) for seat in range(3)}
    assert [infos[seat]["invalid_move"] for seat in range(3)] == [seat == first for seat in range(3)]
    assert infos[0]["reason"].startswith(f"player_{first} gave no legal action. Unparsable: ")


def told(game: Game, deal: Any, actions: list[int], seat: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All that ``seat`` is told in the game with ``actions`` from ``deal``."""
    dealt = functools.partialmethod(Game.new_initial_state, deal=deal)
    monkeypatch.setattr(type(game), "new_initial_state", dealt)
    env = textarena.make(f"catbox/{game.id}", list_actions=True)
    env.reset(num_players=game.num_players)
    for action in actions:
        env.step(f'I think of my hand. {{"action": "{game.action_to_string(action)}"}}')
    monkeypatch.undo()
    return [message for _, message, _ in env.state.observations[seat]]


@pytest.mark.parametrize("game_id", ["cat_in_the_box_v0", "cat_te_v0"])
def test_games_that_differ_only_in_what_is_hidden_from_a_seat_are_told_alike(
    game_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = catbox_env.make_game(game_id, num_players=3)
    for seat, (state, deal), (world, other) in hidden_pairs(game):
        texts = told(game, deal, state.history(), seat, monkeypatch)
        assert texts == told(game, other, world.history(), seat, monkeypatch)
        assert len(texts) > 3


def test_the_example_plays_a_game() -> None:
    ran = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "textarena_table.py")],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "player_2: " in ran.stdout
    assert "The game is over." in ran.stdout
