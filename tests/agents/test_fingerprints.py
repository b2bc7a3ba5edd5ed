"""Texts that change when the rules or an agent's decisions do, and with nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import catbox_agents
from catbox_agents.arena.fingerprints import agent_fingerprint, positions, rules_fingerprint
from catbox_env import Game, make_game
from tests.agents.policies import checkpoint

GAME = make_game("cat_in_the_box_v0", num_players=3)


def of(spec: str, game: Game = GAME) -> str:
    return agent_fingerprint(spec, catbox_agents.make(spec, game, 0), game)


@pytest.mark.parametrize("game_id", ["cat_in_the_box_v0", "cat_te_v0", "petrify_v0"])
def test_there_are_some_thousand_decisions_or_those_of_whole_games(game_id: str) -> None:
    found = positions(make_game(game_id))
    assert len(found.masks) > 400
    assert (found.masks.sum(axis=1) > 1).all()


def test_rules_are_known_by_what_happens_and_not_by_their_reward() -> None:
    options = [{}, {"reward": "win"}, {"bids": [1, 3]}, {"hand_size": 9}, {"num_players": 4}]
    prints = [
        rules_fingerprint(make_game("cat_in_the_box_v0", **{"num_players": 3, **more})) for more in options
    ]
    assert prints[0] == prints[1]
    assert len(set(prints[1:])) == 4


def test_another_agent_has_another_fingerprint_and_the_same_one_the_same() -> None:
    specs = [
        "random",
        "heuristic",
        "heuristic:1",
        "heuristic:2",
        "careful",
        "careful:1",
        "habits",
        "easy",
        "zoo",
    ]
    specs += ["pimc:samples=2", "search:worlds=2,policy=heuristic", "search:worlds=2,policy=random"]
    prints = {spec: of(spec) for spec in specs}
    assert len(set(prints.values())) == len(specs)
    assert {spec: of(spec) for spec in specs} == prints
    assert of("best") == prints["zoo"]


def test_a_policy_is_known_by_its_weights_and_a_search_by_its_policy(tmp_path: Path) -> None:
    prints = []
    for seed in (1, 2):
        made = checkpoint(tmp_path, "cat_in_the_box_v0", seed, num_players=3)
        os.replace(made, tmp_path / "policy.safetensors")
        spec = str(tmp_path / "policy.safetensors")
        prints.append((of(spec), of(f"search:fast,policy={spec}"), of(f"search:worlds=2,policy={spec}")))
    assert all(one != other for one, other in zip(*prints, strict=True))


def test_a_class_of_ones_own_is_known_by_its_file_and_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_fingerprinted.py").write_text(
        "from catbox_agents import Agent\n\nclass Mute(Agent):\n    def act(self, *seen):\n        raise SystemExit\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    before = of("own_fingerprinted:Mute")
    (tmp_path / "own_fingerprinted.py").write_text(
        (tmp_path / "own_fingerprinted.py").read_text() + "# changed\n"
    )
    assert of("own_fingerprinted:Mute") != before
