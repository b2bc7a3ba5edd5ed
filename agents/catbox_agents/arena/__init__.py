"""The arena: compares agents on the same deals from every seat."""

from catbox_agents.arena.arena_result import AgentSummary, ArenaResult
from catbox_agents.arena.records import GameRecord, read_record
from catbox_agents.arena.results import Estimate, Result, Standing
from catbox_agents.arena.run import ArenaInterrupted, EvaluationInterrupted, evaluate, run_arena
from catbox_agents.arena.seatings import DEAL_SETS, MIN_DEALS

__all__ = [
    "DEAL_SETS",
    "MIN_DEALS",
    "AgentSummary",
    "ArenaInterrupted",
    "ArenaResult",
    "Estimate",
    "EvaluationInterrupted",
    "GameRecord",
    "Result",
    "Standing",
    "evaluate",
    "read_record",
    "run_arena",
]
