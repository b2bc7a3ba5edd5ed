"""The previous edition of the zoo was trained before actions had some of their features: their weights are zero."""

from collections.abc import Collection

import numpy as np
import pytest

from catbox_agents.networks.checkpoint import load_checkpoint
from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.numpy_network import NumpyMLP
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import make_vec
from experiments.results import Folders

UNKNOWN = ("other_choices", "color_choices", "slack_without", "other_slack")


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_what_an_agent_has_not_learned_changes_none_of_its_choices(players: int) -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=64, seed=1, num_players=players)
    file = Folders().own / "previous_edition" / f"cat_in_the_box-{players}p.safetensors"
    network = load_checkpoint(file, vec.game).network
    layout = NetworkInputs(vec.game, True, True).action_layout
    assert layout is not None

    def louder(parts: Collection[str]) -> PolicyAgent:
        """The agent, if it heard these features of an action a thousand times as loud."""
        arrays = network.arrays()
        scale = arrays["action_scale"] = arrays["action_scale"].copy()
        for part in parts:
            scale[layout[part].slice] *= 1000
        return PolicyAgent(NumpyMLP(arrays, network.describe()), vec.game)

    agent, told, misled = louder(()), louder(UNKNOWN), louder(("slack",))
    others = 0
    for _ in range(vec.game.max_game_length):
        observed = vec.observation, vec.action_mask
        actions = agent.act_batch(*observed)
        assert np.array_equal(actions, told.act_batch(*observed))
        others += np.count_nonzero(actions != misled.act_batch(*observed))
        vec.step(actions)
    assert others, "features that it has learned do change its choices"
