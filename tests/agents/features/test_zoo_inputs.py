"""The first agents of the zoo were trained before the observation had ``may_hold``: its weights are zero."""

import numpy as np
import pytest

from catbox_agents import make
from catbox_env import make_vec
from experiments.leaderboard import FIRST_EDITION
from experiments.results import Folders


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_what_a_forced_lead_tells_changes_no_choice_of_an_agent_that_has_not_learned_it(players: int) -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=64, seed=1, num_players=players)
    player = make(str(Folders().own / FIRST_EDITION / f"cat_in_the_box-{players}p.safetensors"), vec.game, 0)
    rng = np.random.default_rng(2)
    part = vec.game.observation_layout["may_hold"].slice
    for _ in range(vec.game.max_game_length):
        told = vec.observation.copy()
        told[:, part] = rng.integers(2, size=told[:, part].shape)
        actions = player.act_batch(vec.observation, vec.action_mask)
        assert np.array_equal(actions, player.act_batch(told, vec.action_mask))
        vec.step(actions)
