"""A table of TextArena: a model in each seat.

pip install "textarena==0.7.4"
python examples/textarena_table.py                        # with random legal answers
python examples/textarena_table.py gpt-5-mini gpt-5-nano  # models of textarena.agents.OpenAIAgent, around the table
"""

from __future__ import annotations

import sys

import textarena

import catbox_agents.text.hosts.textarena  # noqa: F401  (registers the games)
from stand_in import StandIn

PLAYERS = 3


def main(models: list[str]) -> None:
    env = textarena.make("catbox/cat_in_the_box_v0", list_actions=not models)
    if models:
        seats = [textarena.agents.OpenAIAgent(models[seat % len(models)]) for seat in range(PLAYERS)]
    else:
        seats = [StandIn(seat) for seat in range(PLAYERS)]
    env.reset(num_players=PLAYERS, seed=1)
    done = False
    while not done:
        player, text = env.get_observation()
        done, _ = env.step(seats[player](text))
    rewards, infos = env.close()
    for player, reward in rewards.items():
        told = infos[player]
        print(
            f"player_{player}: {told['points']:g} points, reward {reward:.2f}, {told['turn_count']} actions"
        )
    print(infos[0]["reason"])


if __name__ == "__main__":
    main(sys.argv[1:])
