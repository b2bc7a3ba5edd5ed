"""How a policy plays: matches during training, and the table, results.json and picture at the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

import catbox_agents
from catbox_agents.arena.results import Result
from catbox_agents.arena.terminal_tables import results_table
from catbox_agents.features import facts
from catbox_agents.imports import with_code
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_agents.system.files import write_atomically
from catbox_env import Game
from catbox_env.core.text import game_title
from catbox_train.algorithm import Policy
from catbox_train.config import TrainConfig
from catbox_train.runs.curves import draw_learning_curves, final_finding
from catbox_train.runs.metrics import read_metrics
from catbox_train.runs.progress import show

RESULTS_FILE = "results.json"
CURVES_FILE = "learning.png"
#: Added to the seed of a run for the deals of evaluations during training, and of the final matches. No run has such a
#: seed, so no run trains on these deals.
EVALUATION_DEALS, FINAL_DEALS = 2**64, 2**65
#: What the algorithms are called in the picture.
ALGORITHMS = {"ppo": "PPO", "dmc": "Deep Monte Carlo", "exit": "expert iteration"}
#: The name of the trained policy in matches.
POLICY = "policy"


def evaluate_policy(
    config: TrainConfig, game: Game, policy: Policy, decisions: int, say: Callable[[str], None]
) -> dict[str, float]:
    """One policy among each of the opponents, on the same deals every time; metrics ``evaluation/<opponent>/...``."""
    row: dict[str, float] = {}
    for opponent in config.eval_opponents:
        result = _match(
            game, policy, [POLICY, opponent], config.evaluate_deals, EVALUATION_DEALS + config.seed
        )
        standing = result[POLICY]
        metrics = {
            "score": standing.score,
            "margin": standing.margin,
            "margin_ci95": standing.margin_ci95,
            "win_share": standing.win_share,
            **{name: value for name, value in standing.statistics.items() if name != "score"},
        }
        row |= {f"evaluation/{opponent}/{name}": value for name, value in metrics.items()}
    margins = ", ".join(
        f"{row[f'evaluation/{name}/margin']:+.2f} ± {row[f'evaluation/{name}/margin_ci95']:.2f} among {name}"
        for name in config.eval_opponents
    )
    say(f"{decisions:,} decisions: margin a game {margins}")
    return row


def final_report(
    config: TrainConfig,
    game: Game,
    run: Path,
    policy: Policy,
    counters: dict[str, Any],
    console: Console,
) -> dict[str, Any]:
    """Play the final matches, print the table, write ``results.json`` and the picture; returns what the file holds."""
    line_ups = [[POLICY, opponent] for opponent in config.eval_opponents]
    if game.num_players > 2:  # one opponent among policies; with two players this would be the same match
        line_ups += [[opponent, POLICY] for opponent in config.eval_opponents if opponent != "random"]
    matches = []
    with console.status("Playing the matches of the final evaluation", spinner="line"):
        for line_up in line_ups:
            matches.append(_match(game, policy, line_up, config.final_deals, FINAL_DEALS + config.seed))
    seconds = max(counters["seconds"], 1e-9)  # 0 if nothing was played
    speed = counters["decisions"] / seconds
    results = {
        "game": game.id,
        "options": game.options,
        "training": {**counters, "decisions_per_second": speed},
        "config": config.as_dict(),
        "matches": [match.as_dict() for match in matches],
    }
    write_atomically(run / RESULTS_FILE, json.dumps(results, indent=1).encode())
    algorithm = ALGORITHMS.get(config.algorithm, config.algorithm)
    about = f"{run.name}: {algorithm}, {game_title(game.id)}, {game.num_players} players"
    shares = facts(game).binary_statistics
    final = ""
    if config.eval_opponents:  # as in the curves, the last of them is the measure
        last = matches[len(config.eval_opponents) - 1][POLICY]
        final = final_finding(config.final_deals, config.eval_opponents[-1], last.margin, last.margin_ci95)
    draw_learning_curves(read_metrics(run), run / CURVES_FILE, about, shares, final)
    show(console, results_table(matches, "The same deals from every seat", facts(game).shares))
    said = (
        f"{counters['decisions']:,} decisions in {seconds:,.0f} s of playing and learning ({speed:,.0f} a second). "
        f"Learning curves: {run / CURVES_FILE}."
    )
    if isinstance(policy, PolicyAgent):  # one of the user's own has its own way to be named
        said += f" To use the policy as an agent in any command:  {with_code(run, config.policy_code())}"
    show(console, said)
    return results


def _match(game: Game, policy: Policy, line_up: list[str], num_deals: int, seed: int) -> Result:
    agents: list[Any] = [policy if name == POLICY else name for name in line_up]
    return catbox_agents.evaluate(game, agents, num_deals, seed=seed, names=line_up)
