"""Search: agents that try their actions in sampled worlds before they play, for any game and without a network.

A world (a "determinization") is a full position that is consistent with what the searching seat sees.
"""

from catbox_agents.search.agents import ISMCTSAgent, PIMCAgent, SearchAgent
from catbox_agents.search.ismcts import ISMCTS, TreeResult
from catbox_agents.search.rollout import RolloutSearch, SearchResult

__all__ = [
    "ISMCTS",
    "ISMCTSAgent",
    "PIMCAgent",
    "RolloutSearch",
    "SearchAgent",
    "SearchResult",
    "TreeResult",
]
