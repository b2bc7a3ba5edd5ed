"""The agents of the zoo were trained before the observation had ``may_hold``: its weights are zero."""

import numpy as np
import pytest

from catbox_agents import make
from catbox_agents.zoo import zoo_agents
from catbox_env import make_vec

AGENTS = [agent for agent in zoo_agents() if agent.game_id == "cat_in_the_box_v0"]


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_what_a_forced_lead_tells_changes_no_choice_of_an_agent_that_has_not_learned_it(agent) -> None:  # type: ignore[no-untyped-def]
    vec = make_vec(agent.game_id, num_envs=64, seed=1, **agent.options)
    player = make(agent.spec, agent.game, 0)
    rng = np.random.default_rng(2)
    part = agent.game.observation_layout["may_hold"].slice
    for _ in range(agent.game.history_length):
        told = vec.observation.copy()
        told[:, part] = rng.integers(2, size=told[:, part].shape)
        actions = player.act_batch(vec.observation, vec.action_mask)
        assert np.array_equal(actions, player.act_batch(told, vec.action_mask))
        vec.step(actions)
