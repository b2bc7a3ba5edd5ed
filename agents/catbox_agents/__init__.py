"""Players for the games of catbox_env, and the arena that compares them.

game = catbox_env.make_game("cat_in_the_box_v0", num_players=4)
agent = catbox_agents.make("heuristic", game, seed=0)
result = catbox_agents.evaluate(game, [agent, "random"], num_deals=1000)
"""

from catbox_agents.agent import HEURISTICS, Agent, check_agent, known_agents, make
from catbox_agents.arena import Result, evaluate

__all__ = ["HEURISTICS", "Agent", "Result", "check_agent", "evaluate", "known_agents", "make"]
