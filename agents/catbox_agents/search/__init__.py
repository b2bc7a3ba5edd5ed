"""Search: an agent that tries its actions in drawn worlds before it plays. It needs no network and knows no game."""

from catbox_agents.search.agent import RolloutSearchAgent
from catbox_agents.search.rollout import RolloutSearch, SearchResult
from catbox_agents.search.targets import policy_target

__all__ = ["RolloutSearch", "RolloutSearchAgent", "SearchResult", "policy_target"]
