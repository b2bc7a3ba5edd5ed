"""How long training takes until nobody is better off as the heuristic: neither one network among heuristics, nor one
heuristic among networks.

Each run is that of the preset for its number of players (``quick`` for three, ``standard`` for five), evaluated every
two seconds of playing and learning; the evaluations themselves do not count.
"""

from __future__ import annotations

from contextlib import closing

import catbox_agents
from benchmarks.report import Clock, Metric, metric_of
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Game
from catbox_train.algorithm import Algorithm, algorithm_class
from catbox_train.config import load_config
from catbox_train.memory import keep_freed_memory

#: Players -> preset.
RUNS = {5: "standard", 3: "quick"}
SEEDS = (1, 2, 3)
#: Seconds from one evaluation to the next, deals of each, and seconds after which a run is given up.
INTERVAL, DEALS, LONGEST = 2.0, 400, 300.0


def margins(game: Game, algorithm: Algorithm) -> tuple[float, float]:
    """Of the network, one among heuristics, and of a heuristic, one among networks."""
    own = PolicyAgent(algorithm.policy(), game)
    among = catbox_agents.evaluate(game, [own, "heuristic"], DEALS)
    against = catbox_agents.evaluate(game, ["heuristic", own], DEALS)
    return among.standings[0].margin, against.standings[0].margin


def seconds_to_level(players: int, seed: int, longest: float = LONGEST) -> float:
    """Of playing and learning; ``longest`` for a run that is not level by then."""
    overrides = {"game_options.num_players": players, "seed": seed, "device": "cpu"}
    config = load_config(RUNS[players], overrides=overrides).resolved()
    game, clock, due = config.make_game(), Clock(), INTERVAL
    with closing(algorithm_class(config.algorithm)(config, game)) as algorithm:
        for update in range(config.num_updates):
            with clock:
                algorithm.update(update / max(1, config.num_updates - 1))
            if clock.seconds < min(due, longest):
                continue
            due += INTERVAL
            among, against = margins(game, algorithm)
            print(
                f"level: {players} players, seed {seed}, {clock.seconds:.1f} s: {among:+.2f}, {against:+.2f}"
            )
            if among >= 0 >= against:
                return clock.seconds
            if clock.seconds >= longest:
                break
    return longest


def measure(quick: bool) -> list[Metric]:
    """Three seeds each; a short run has one, and ends after an evaluation."""
    keep_freed_memory()  # as `catbox train` does
    metrics = []
    for players in RUNS:
        taken = [
            seconds_to_level(players, seed, INTERVAL if quick else LONGEST)
            for seed in SEEDS[: 1 if quick else 3]
        ]
        name = f"PPO until level with the heuristic, {players} players, {len(taken)} seeds"
        metrics.append(metric_of(name, taken, "s"))
    return metrics
