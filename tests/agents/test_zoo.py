"""The zoo: trained agents that come with catbox, and the spec "best"."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import catbox_agents
from catbox_agents import zoo
from catbox_agents.learners.gymnasium import LearnerEnv
from catbox_agents.networks.checkpoint import save_checkpoint
from catbox_agents.specs import best_agent, parse_spec, resolve
from catbox_env import Game, make_game, make_vec
from tests.agents.policies import network_for


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A zoo with an agent for three players of Cat in the Box."""
    game = make_game("cat_in_the_box_v0", num_players=3)
    save_checkpoint(tmp_path / "three.safetensors", network_for(game), game)
    write_index(tmp_path, game)
    monkeypatch.setattr(zoo, "FOLDER", tmp_path)
    return tmp_path


def write_index(folder: Path, game: Game, **changes: Any) -> None:
    digest = hashlib.sha256((folder / "three.safetensors").read_bytes()).hexdigest()
    entry = {"game": game.id, "options": game.options, "sha256": digest, **changes}
    text = json.dumps({"format": zoo.FORMAT, "agents": {"three": entry}})
    (folder / zoo.INDEX).write_text(text)


def test_an_agent_of_the_zoo_is_made_by_its_name(folder: Path) -> None:
    game = make_game("cat_in_the_box_v0", num_players=3, reward="margin")  # another reward is no matter
    state = game.new_initial_state(seed=1)
    observation, mask = state.observation(state.current_player), state.action_mask()
    played = catbox_agents.make("zoo:three", game).act(observation, mask)
    assert played == catbox_agents.make(folder / "three.safetensors", game).act(observation, mask)
    assert "zoo:three" in catbox_agents.known_agents(game)


def test_best_is_the_agent_of_the_zoo_for_the_rules_else_the_heuristic(folder: Path) -> None:
    three = make_game("cat_in_the_box_v0", num_players=3)
    assert best_agent(three) == resolve("zoo", three) == "zoo:three"
    assert "zoo" in catbox_agents.known_agents(three)
    assert catbox_agents.evaluate(three, ["zoo", "random"], 10).standings[0].name == "zoo"
    LearnerEnv("cat_in_the_box_v0", num_players=3, opponents="zoo").reset(seed=0)
    for part in ({"rounds": "match"}, {"bids": (1, 3, 4)}, {"start_player": 1}):
        assert best_agent(make_game("cat_in_the_box_v0", num_players=3, **part)) == "zoo:three"
    for other in (
        make_game("cat_in_the_box_v0", num_players=4),
        make_game("cat_in_the_box_v0", num_players=3, num_ranks=7),
        make_game("cat_te_v0"),
    ):
        assert best_agent(other) == "heuristic"
        assert type(catbox_agents.make("best", other)) is type(catbox_agents.make("heuristic", other))
        assert not any(name.startswith("zoo") for name in catbox_agents.known_agents(other))
        with pytest.raises(ValueError, match="no agent for these rules: use 'best'"):
            catbox_agents.make("zoo", other)


@pytest.mark.usefixtures("folder")
def test_a_name_that_the_zoo_does_not_have() -> None:
    with pytest.raises(
        ValueError, match=r"unknown agent 'thre' of the zoo; did you mean 'three'\?; expected one of three"
    ):
        catbox_agents.make("zoo:thre", make_game("cat_in_the_box_v0", num_players=3))
    with pytest.raises(ValueError, match="unknown agent '' of the zoo"):
        parse_spec("zoo:")


@pytest.mark.usefixtures("folder")
def test_an_agent_of_the_zoo_refuses_other_rules() -> None:
    with pytest.raises(
        ValueError,
        match=r"trained for .* num_players=3, num_ranks=6, asked to play with .* num_ranks=8: the zoo has no",
    ):
        catbox_agents.make("zoo:three", make_game("cat_in_the_box_v0", num_players=4))
    with pytest.raises(
        ValueError, match="zoo:three was trained for the game 'cat_in_the_box_v0', asked to play 'cat_te_v0'"
    ):
        catbox_agents.make("zoo:three", make_game("cat_te_v0"))


def test_a_corrupt_file_is_named(folder: Path) -> None:
    game = make_game("cat_in_the_box_v0", num_players=3)
    file = folder / "three.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(
        ValueError, match=r"zoo:three: .*three.safetensors is damaged .* git restore agents/catbox_agents/zoo"
    ):
        catbox_agents.make("zoo:three", game)
    file.unlink()
    with pytest.raises(ValueError, match=r"three.safetensors cannot be read \(No such file"):
        catbox_agents.make("best", game)


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"format": "catbox-zoo-9"}',
        '{"format": "catbox-zoo-1", "agents": {"a": 3}}',
    ],
)
def test_a_damaged_index_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / zoo.INDEX).write_text(text)
    monkeypatch.setattr(zoo, "FOLDER", tmp_path)
    game = make_game("cat_in_the_box_v0", num_players=3)
    message = r"index of the zoo, .*index.json, (cannot be read|is damaged|has format)"
    with pytest.raises(ValueError, match=message) as refused:
        catbox_agents.make("zoo:three", game)
    assert str(refused.value).count(str(tmp_path)) == 1
    catbox_agents.make("random", game)  # which needs no index


@pytest.mark.usefixtures("folder")
def test_specs_of_the_zoo_run_no_code_of_strangers() -> None:
    assert not parse_spec("zoo:three").runs_code
    assert not parse_spec("best").runs_code
    parse_spec("search:policy=zoo:three,worlds=2")


def test_every_agent_that_comes_with_catbox_plays_its_game() -> None:
    for agent in zoo.zoo_agents():
        assert agent.path.stat().st_size <= 2_000_000
        assert f"# {agent.name}" in agent.card.read_text()
        assert best_agent(agent.game) == agent.spec
        match = catbox_agents.evaluate(agent.game, [agent.spec, "random"], num_deals=50, seed=1)
        assert match[agent.spec].margin > 0, agent.name


#: The first 16 hexadecimal digits of SHA-256 of all actions in 64 games of each agent against itself.
MOVES = {
    "cat_in_the_box-2p": "8cebd38cbb45882b",
    "cat_in_the_box-3p": "1b29512b41324d8f",
    "cat_in_the_box-4p": "0ba7b0dd4d82177f",
    "cat_in_the_box-5p": "80480e67a2451f60",
    "cat_in_the_box-2p-0revealed": "cc921136d38808a9",
    "cat_in_the_box-3p-7ranks": "3e6aa05b36b1a970",
    "cat_te-2p-laos": "ac92d31ef4758e30",
    "cat_te-3p-laos": "bc9d2a79fa8709a7",
    "cat_te-4p-laos": "3070463dceeb4367",
    "cat_te-5p-laos": "08f47965be0d0f02",
    "cat_te-6p-laos": "84acc90b195319e8",
    "cat_te-2p-khmer": "64856c46afb9aa24",
    "cat_te-3p-khmer": "631b8907f6c25003",
    "cat_te-4p-khmer": "e67e764e2c06ca48",
    "cat_te-5p-khmer": "62c5846156d14396",
    "cat_te-6p-khmer": "f67c87faf48bc131",
    "petrify-4x4": "03c86bd88a9fe89e",
    "petrify-full": "1ae96a2f473701d7",
}


def test_every_agent_plays_the_moves_that_it_played_when_it_came() -> None:
    """Whatever changes around it but its features. The two best logits differ by at least 8e-5: more than rounding."""
    for agent in zoo.zoo_agents():
        vec = make_vec(agent.game_id, 64, seed=41, **agent.options)
        player = catbox_agents.make(agent.spec, vec.game)
        digest, ended = hashlib.sha256(), np.zeros(64, bool)
        while not ended.all():
            actions = player.act_batch(vec.observation, vec.action_mask)
            digest.update(actions[~ended].astype("<i2").tobytes())
            vec.step(actions)
            ended |= vec.terminated
        assert digest.hexdigest()[:16] == MOVES[agent.name], agent.name
