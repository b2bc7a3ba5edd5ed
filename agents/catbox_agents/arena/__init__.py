"""The arena: compares agents on the same deals from every seat."""

from catbox_agents.arena.arena_result import AgentSummary, ArenaResult, Faults
from catbox_agents.arena.deal_sets import DEAL_SETS
from catbox_agents.arena.evaluation import EvaluationInterrupted, evaluate
from catbox_agents.arena.intervals import Estimate
from catbox_agents.arena.records import GameRecord, read_record
from catbox_agents.arena.results import Result, Standing
from catbox_agents.arena.run import ArenaInterrupted, run_arena
from catbox_agents.arena.setup import MIN_DEALS

__all__ = [
    "DEAL_SETS",
    "MIN_DEALS",
    "AgentSummary",
    "ArenaInterrupted",
    "ArenaResult",
    "Estimate",
    "EvaluationInterrupted",
    "Faults",
    "GameRecord",
    "Result",
    "Standing",
    "evaluate",
    "read_record",
    "run_arena",
]
