"""Agents that play rules which are part of those they were made for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import catbox_agents
from catbox_agents.adaptation import adaptation
from catbox_agents.networks.checkpoint import load_checkpoint, save_checkpoint
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_agents.specs import best_agent
from catbox_env import Game, make_game, make_vec
from tests.agents.policies import network_for


def cat_in_the_box(**options: Any) -> Game:
    return make_game("cat_in_the_box_v0", **{"num_players": 3, **options})


PARTS: list[dict[str, Any]] = [{"rounds": 2}, {"bids": (1, 3, 4)}, {"rounds": "match", "bids": (2,)}]


@pytest.mark.parametrize("options", PARTS)
def test_positions_of_a_round_are_seen_as_in_the_own_game(options: dict[str, Any]) -> None:
    own, game = cat_in_the_box(), cat_in_the_box(**options)
    adapted = adaptation(own, game)
    assert adapted is not None
    rng = np.random.default_rng(1)
    for seed in range(20):
        state = game.new_initial_state(seed=seed)
        twin = own.new_initial_state(deal=game.deal_of(state))
        while not state.round_ended:
            seat = state.current_player
            seen = adapted.observations(state.observation(seat)[None])
            assert np.array_equal(seen[0], twin.observation(seat))
            mask = adapted.masks(state.action_mask()[None].astype(bool))[0]
            assert not (mask & ~twin.action_mask().astype(bool)).any()
            action = int(rng.choice(state.legal_actions()))
            assert game.action_to_string(action) == own.action_to_string(int(adapted.actions[action]))
            state.apply_action(action)
            twin.apply_action(int(adapted.actions[action]))


@pytest.mark.parametrize("options", PARTS)
def test_a_policy_keeps_its_logits_of_what_is_legal(tmp_path: Path, options: dict[str, Any]) -> None:
    own, game = cat_in_the_box(), cat_in_the_box(**options)
    save_checkpoint(tmp_path / "policy.safetensors", network_for(own), own)
    agent = catbox_agents.make(str(tmp_path), game)
    assert isinstance(agent, PolicyAgent)
    vec = make_vec(game.id, 64, seed=4, **game.options)
    adapted = adaptation(own, game)
    assert adapted is not None
    own_agent = PolicyAgent(network_for(own), own)
    for _ in range(40):
        masks = vec.action_mask.copy()
        policy = agent.policy_batch(vec.observation, masks)
        expected = own_agent.policy_batch(adapted.observations(vec.observation), adapted.masks(masks))
        assert np.allclose(policy, expected[:, adapted.actions], atol=1e-6)
        actions = agent.act_batch(vec.observation, masks)
        assert masks[np.arange(64), actions].all()
        vec.step(actions)


def test_a_match_of_cat_te_is_played_by_its_agent_of_single_rounds() -> None:
    match = make_game("cat_te_v0", num_players=3, rounds=3)
    assert catbox_agents.evaluate(match, ["zoo", "random"], 20).standings[0].margin > 0


@pytest.mark.parametrize("revealed_cards", [1, 2, 4, 5])
def test_the_agent_for_two_plays_with_any_number_of_neutral_tokens(revealed_cards: int) -> None:
    game = cat_in_the_box(num_players=2, revealed_cards=revealed_cards, reward="margin")
    assert catbox_agents.evaluate(game, ["best", "heuristic"], 200).standings[0].margin > 0.3


@pytest.mark.parametrize("option", ["offsuit_faceup", "instant_wins", "instant_wins_double"])
def test_an_agent_of_cat_te_plays_other_rules_of_folding_and_instant_wins(option: str) -> None:
    usual = make_game("cat_te_v0", num_players=3, reward="margin")
    game = make_game("cat_te_v0", num_players=3, reward="margin", **{option: not usual.options[option]})
    assert best_agent(game) == "zoo:cat_te-3p-laos"
    assert catbox_agents.evaluate(game, ["best", "heuristic"], 300, seed=1).standings[0].margin > 0.05
    learned_less = option != "instant_wins_double"
    assert (adaptation(game, usual) is None) == learned_less


@pytest.mark.parametrize(
    "game",
    [
        cat_in_the_box(num_players=4),
        cat_in_the_box(num_ranks=7),
        cat_in_the_box(bids=(1, 5)),
        cat_in_the_box(hand_size=9, revealed_cards=3),
        make_game("cat_te_v0", num_players=3),
    ],
)
def test_other_rules_are_not_adapted(tmp_path: Path, game: Game) -> None:
    own = cat_in_the_box()
    assert adaptation(own, game) is None
    save_checkpoint(tmp_path / "policy.safetensors", network_for(own), own)
    with pytest.raises(ValueError, match="was trained for"):
        catbox_agents.make(str(tmp_path), game)


def test_some_neutral_tokens_and_none_are_too_different() -> None:
    some, none = (cat_in_the_box(num_players=2, revealed_cards=count) for count in (3, 0))
    assert adaptation(some, none) is None
    assert adaptation(none, some) is None


def test_training_starts_from_the_same_rules_alone(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "policy.safetensors", network_for(cat_in_the_box()), cat_in_the_box())
    with pytest.raises(ValueError, match="bids="):
        load_checkpoint(tmp_path / "policy.safetensors", cat_in_the_box(bids=(1, 3, 4)))
