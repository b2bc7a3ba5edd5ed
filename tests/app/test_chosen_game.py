"""A trained agent implies the rules that it plays by: no command needs them typed again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import catbox_env
from catbox_agents.networks.checkpoint import save_checkpoint
from catbox_agents.specs import trained_for
from catbox_app.options import GameOptions, choose_game, fill
from tests.agents.policies import network_for
from tests.app.table import refused


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    """A policy for two players with four ranks; the folder is that of its run."""
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=2, num_ranks=4, hand_size=7, reward="win")
    folder = tmp_path / "checkpoints" / "00000001"
    folder.mkdir(parents=True)
    save_checkpoint(folder / "policy.safetensors", network_for(game), game)
    return str(tmp_path)


def small(**options: Any) -> Any:
    return catbox_env.make_game(
        "cat_in_the_box_v0",
        **{"num_players": 2, "num_ranks": 4, "hand_size": 7, "reward": "margin", **options},
    )


def test_a_checkpoint_implies_its_game_and_rules_but_not_its_reward(checkpoint: str) -> None:
    for agents in ([checkpoint], ["random", checkpoint], [f"search:worlds=2,policy={checkpoint}"]):
        assert choose_game(agents, GameOptions()) == small()
    named = GameOptions("cat_in_the_box_v0", {"num_players": 2, "num_ranks": "4", "reward": "score"})
    assert choose_game([checkpoint], named) == small(reward="score")
    assert choose_game([checkpoint], GameOptions(None, {"rounds": "match"})) == small(rounds="match")
    assert choose_game(["zoo:petrify-4x4"], GameOptions()).id == "petrify_v0"
    assert choose_game(["zoo:cat_in_the_box-5p", checkpoint], GameOptions()).num_players == 5


def test_other_rules_that_are_given_are_taken_as_they_are(checkpoint: str) -> None:
    """So that the agent refuses them, and names the difference."""
    standard = catbox_env.make_game("cat_in_the_box_v0", num_players=3, reward="margin")
    assert choose_game([checkpoint], GameOptions(None, {"num_players": 3})) == standard
    assert choose_game([checkpoint], GameOptions("cat_te_v0")).id == "cat_te_v0"
    said = refused("play", checkpoint, "--players", "3")
    assert "was trained for cat_in_the_box_v0 with" in said
    assert "num_players=2" in said


def test_another_name_of_the_same_rules_leaves_the_agent_its_rules() -> None:
    game = choose_game(["zoo:cat_te-3p-laos"], GameOptions(None, {"region": "vietnamese"}))
    assert (game.num_players, game.rules.region) == (3, "vietnamese")


def test_agents_that_were_trained_for_nothing_imply_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "random").mkdir()
    for spec in ("random", "best", "hard", "search:fast", "no/such/path", "package.module:Class"):
        assert trained_for(spec) is None
    assert choose_game([], GameOptions()) == catbox_env.make_game("cat_in_the_box_v0", reward="margin")


def test_a_checkpoint_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "policy.safetensors").write_bytes(b"rubbish")
    assert "policy.safetensors" in refused("play", str(tmp_path / "policy.safetensors"))
    (tmp_path / "empty").mkdir()
    assert "holds no policy checkpoint" in refused("evaluate", str(tmp_path / "empty"), "random")


def test_the_last_agent_fills_the_seats() -> None:
    assert fill(["a", "b"], 4) == ["a", "b", "b", "b"]
    with pytest.raises(ValueError, match="0 agents for 4 seats"):
        fill([], 4)
