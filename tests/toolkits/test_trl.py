"""TRL: one step of GRPO plays whole games, sees the rewards that they paid, and moves the parameters."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers.utils import get_json_schema

from catbox_agents.text import TextGame
from catbox_agents.text.text_game import reward_of
from catbox_env import make_game
from examples import trl_grpo
from examples.stand_in import StandIn
from examples.trl_grpo import CatInTheBoxTools, duplicate_rows

GAME = make_game("cat_in_the_box_v0", num_players=3)


def test_one_step_of_grpo_sees_the_rewards_that_were_paid(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model, tokenizer = trl_grpo.tiny_model()
    before = {name: weights.clone() for name, weights in model.named_parameters()}
    trainer = trl_grpo.make_trainer(model, tokenizer, str(tmp_path), list_actions=True)
    trainer.train()
    tables = [environment._table for environment in trainer.environments]
    assert len(tables) == 4
    assert all(table.done for table in tables)
    rewards = []
    for table in tables:
        record = table.record()
        state = GAME.new_initial_state(deal=record["deals"][0])
        for action in record["actions"]:
            state.apply_action(action)
        assert state.is_terminal()
        rewards.append(reward_of(GAME, state.returns()[table.seat]))
    assert [environment.get_reward() for environment in trainer.environments] == rewards
    # A duplicate: one deal and one seat, four games.
    assert len({(table.seed, table.seat, str(table.record()["deals"])) for table in tables}) == 1
    assert len({str(table.record()["actions"]) for table in tables}) == 4
    log = trainer.state.log_history[0]
    assert float(log["rewards/CatInTheBoxTools/mean"]) == pytest.approx(np.mean(rewards))
    assert float(log["reward_std"]) == pytest.approx(np.std(rewards, ddof=1))
    assert float(log["reward_std"]) > 0
    assert float(log["tools/failure_frequency"]) == 0
    assert float(log["grad_norm"]) > 0
    moved = [name for name, weights in model.named_parameters() if not torch.equal(weights, before[name])]
    assert len(moved) > len(before) / 2


def test_the_tools_are_described_to_the_model() -> None:
    tools = CatInTheBoxTools(GAME)
    schemas = {name: get_json_schema(getattr(tools, name))["function"] for name in trl_grpo.ARGUMENTS}
    assert {name: schema["name"] for name, schema in schemas.items()} == {name: name for name in schemas}
    play = schemas["play"]["parameters"]
    assert {name: each["type"] for name, each in play["properties"].items()} == {
        "colour": "string",
        "rank": "integer",
    }
    assert play["required"] == ["colour", "rank"]
    public = {name for name in dir(tools) if not name.startswith("_")}
    assert public == {*schemas, "reset", "get_reward"}


def test_a_game_by_tools_is_the_game_in_words() -> None:
    tools, table = CatInTheBoxTools(GAME, list_actions=True), TextGame(GAME, list_actions=True)
    model = StandIn(3)
    text, told = table.reset(7, 1), tools.reset(seed=7, seat=1, prompt=[])
    done, reward = False, 0.0
    while not done:
        assert "JSON" not in told
        assert told.split("It is your turn.")[0] == text.split("It is your turn.")[0]
        assert "It is your turn. Choose an action by calling a tool." in told
        assert tools.get_reward() == 0.0
        name, *values = json.loads(model(text))["action"].split()
        text, reward, done = table.step(" ".join([name, *values]))
        told = getattr(tools, name)(*values)
    assert told == text
    assert tools.get_reward() == reward > 0
    with pytest.raises(ValueError, match="no game is under way"):
        tools.bid(1)


def test_an_illegal_call_is_told_why_and_an_unfinished_game_pays_nothing() -> None:
    tools = CatInTheBoxTools(GAME, retries=1)
    tools.reset(seed=1, seat=0)
    assert tools.bid(1) == (
        "Illegal: bid 1: this is the time to discard, not to bid.\nAnswer again; tries left: 1."
    )
    assert tools.play("pink", 3).startswith("Unknown: unknown action 'play pink 3'")
    assert tools.get_reward() == 0.0


def test_every_deal_is_in_the_data_from_every_seat() -> None:
    rows = duplicate_rows(GAME, 2, seed=5, prompt="Win.")
    assert [(row["seed"], row["seat"]) for row in rows] == [(5, 0), (5, 1), (5, 2), (6, 0), (6, 1), (6, 2)]
    assert rows[0]["prompt"] == [{"role": "user", "content": "Win."}]
