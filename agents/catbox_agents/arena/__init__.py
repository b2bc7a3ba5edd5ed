"""The arena: compares agents on the same deals from every seat."""

from catbox_agents.arena.evaluation import MIN_DEALS, EvaluationInterrupted, evaluate
from catbox_agents.arena.results import Result, Standing

__all__ = ["MIN_DEALS", "EvaluationInterrupted", "Result", "Standing", "evaluate"]
