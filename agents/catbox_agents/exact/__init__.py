"""Exact solution of games whose trees are small enough to enumerate: docs/exact.md.

tree = GameTree(game)
nash_conv(tree, tree.uniform_policy())
exploitability(game, "heuristic").nash_conv
agent = CFRAgent(game, seed=0, iterations=1000)
"""

from catbox_agents.exact.cfr import CFRAgent, CFRPlus
from catbox_agents.exact.report import Exploitability, exploitability
from catbox_agents.exact.tabular import AgentPolicy, TabularAgent, policy_of_agent
from catbox_agents.exact.tree import GameTree
from catbox_agents.exact.values import best_response, nash_conv, values

__all__ = [
    "AgentPolicy",
    "CFRAgent",
    "CFRPlus",
    "Exploitability",
    "GameTree",
    "TabularAgent",
    "best_response",
    "exploitability",
    "nash_conv",
    "policy_of_agent",
    "values",
]
