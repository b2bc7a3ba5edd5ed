"""How much of what a search gains policies have learned.

    python -m experiments.fourth_edition.regret PLAYERS DEALS POLICY...

Copies of the zoo's agent play DEALS rounds of Cat in the Box, on the deals `selection`. Wherever there is a choice, two
searches in other worlds value every action, if the agent plays on. The first chooses; the second judges its choice and
those of each POLICY (an agent, such as a run folder), in points a decision more than the agent's own.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

import catbox_agents
from catbox_agents import zoo
from catbox_agents.arena.results import mean_estimates
from catbox_agents.arena.seatings import DEAL_SETS, deal_seed
from catbox_agents.search import RolloutSearch
from catbox_agents.search.halving import flat_schedule
from catbox_env import Vec, make_game

#: Of each of the two searches.
WORLDS = 64


def regrets(players: int, deals: int, policies: Sequence[str]) -> dict[str, Any]:
    """What the search and each of ``policies`` gain a decision, with the ends of the 95 % interval over the deals."""
    game = make_game("cat_in_the_box_v0", num_players=players, reward="margin")
    agent = catbox_agents.make(zoo.zoo_agent(f"{zoo.PREFIX}cat_in_the_box-{players}p").spec, game)
    others = {spec: catbox_agents.make(spec, game, seed=1) for spec in policies}
    search = RolloutSearch(game, agent, WORLDS, schedule=flat_schedule, beta=1.0, proposals=8, effective=0.25)
    root = np.random.SeedSequence(DEAL_SETS["selection"])
    games = Vec(
        game, deals, seed=[deal_seed(root, number) for number in range(deals)], auto_deal=False, history=True
    )
    gains = {name: np.zeros(deals) for name in ("search", *policies)}
    decisions, running, turn = np.zeros(deals), np.arange(deals), 0
    while len(running):
        seen, masks = games.observation[running], games.action_mask[running]
        actions = agent.act_batch(seen, masks)
        some = np.flatnonzero(masks.sum(axis=1) > 1)
        if len(some):
            games_of = running[some]
            chosen, judged = (
                search.search(
                    seen[some],
                    masks[some],
                    [np.random.SeedSequence([turn, int(row), number]) for row in games_of],
                    games.history[games_of],
                )
                for number in range(2)
            )
            rows = np.arange(len(some))
            own = judged.values[rows, actions[some]]
            decisions[games_of] += 1
            taken = {name: other.act_batch(seen[some], masks[some]) for name, other in others.items()}
            for name, of_name in {"search": chosen.actions, **taken}.items():
                gains[name][games_of] += judged.values[rows, of_name] - own
        games.step(actions, running)
        turn += 1
        running = running[~(games.terminated[running] | games.round_ended[running])]
    a_decision = np.stack([of_name / decisions.mean() for of_name in gains.values()], axis=1)
    found = mean_estimates(a_decision)
    return {
        "players": players,
        "deals": deals,
        "decisions": int(decisions.sum()),
        "gains": {
            name: [round(one.mean, 4), round(one.low, 4), round(one.high, 4)]
            for name, one in zip(gains, found, strict=True)
        },
    }


if __name__ == "__main__":
    print(json.dumps(regrets(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]), indent=1))
