"""The benchmark: suites of scenarios with frozen opponents and deals, a score, and submissions that can be verified.

docs/benchmark.md is the protocol. `suite` gives a suite, `run_bench` plays an agent through it and writes a submission,
`verify` checks one, `leaderboard` compares some.
"""

from catbox_agents.bench.run import TRACKS, BenchInterrupted, run_bench
from catbox_agents.bench.scenarios import Scenario, Suite, suite, suite_names
from catbox_agents.bench.verify import Verification, verify

__all__ = [
    "TRACKS",
    "BenchInterrupted",
    "Scenario",
    "Suite",
    "Verification",
    "run_bench",
    "suite",
    "suite_names",
    "verify",
]
