"""Agents that play the games of catbox_env, and the arena that compares them.

game = catbox_env.make_game("cat_in_the_box_v0", num_players=4)
agent = catbox_agents.make("heuristic", game, seed=0)
result = catbox_agents.evaluate(game, [agent, "random"], num_deals=1000)
matrix = catbox_agents.run_arena(game, [agent, "random", "package.module:Class"], num_deals=1000)
paid = catbox_agents.play_out(vec, agent, until="end_of_round")
found = catbox_agents.RolloutSearch(game, agent, worlds=64).search(vec.observation, vec.action_mask, seed=0)
"""

from catbox_agents.agent import Agent, check_agent
from catbox_agents.arena import (
    DEAL_SETS,
    ArenaInterrupted,
    ArenaResult,
    EvaluationInterrupted,
    GameRecord,
    Result,
    Standing,
    evaluate,
    read_record,
    run_arena,
)
from catbox_agents.errors import AgentError
from catbox_agents.heuristics import HEURISTICS
from catbox_agents.networks.policy_agent import save_policy
from catbox_agents.play import play_out
from catbox_agents.search import (
    ISMCTS,
    ISMCTSAgent,
    PIMCAgent,
    RolloutSearch,
    SearchAgent,
    SearchResult,
    TreeResult,
)
from catbox_agents.specs import known_agents, make

__all__ = [
    "DEAL_SETS",
    "HEURISTICS",
    "ISMCTS",
    "Agent",
    "AgentError",
    "ArenaInterrupted",
    "ArenaResult",
    "EvaluationInterrupted",
    "GameRecord",
    "ISMCTSAgent",
    "PIMCAgent",
    "Result",
    "RolloutSearch",
    "SearchAgent",
    "SearchResult",
    "Standing",
    "TreeResult",
    "check_agent",
    "evaluate",
    "known_agents",
    "make",
    "play_out",
    "read_record",
    "run_arena",
    "save_policy",
]
