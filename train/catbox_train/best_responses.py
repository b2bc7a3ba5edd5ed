"""How exploitable an agent is: learners that train only among frozen copies of it.

The gain of the best learner over what the agent itself earns there is a lower bound on its exploitability: a better
learner, or more training, may gain more.

OUTPUT/seed-N/                the training run of each learner, an agent for every command
OUTPUT/best_response.json     what `best_response` returns
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import catbox_agents
import catbox_env
from catbox_agents.arena.results import Result, mean_and_half_width
from catbox_agents.arena.seatings import DEAL_SETS
from catbox_agents.imports import with_code
from catbox_agents.networks.checkpoint import CHECKPOINTS_FOLDER, LOGITS, VALUES, latest_checkpoint
from catbox_agents.specs import Kind, load_policy, parse_spec, resolve
from catbox_agents.system.files import parse_json, read_text, write_atomically
from catbox_env import Game
from catbox_env.core.checks import check_instance, check_path, is_integer, is_sequence, short_repr
from catbox_train.config import TrainConfig
from catbox_train.registry import algorithm_class
from catbox_train.runs.checkpoint import BEST_FOLDER
from catbox_train.runs.folder import CONFIG_FILE, open_run
from catbox_train.runs.loop import check_run, resume, train
from catbox_train.self_play_config import SelfPlayConfig

RESULT_FILE = "best_response.json"
#: The deals of the comparisons at the end, which no choice depends on.
REPORT_SET = "report"
#: Settings that `best_response` sets itself.
SET_HERE = ("seed", "eval_opponents", "opponents", "learner_seats")
#: Settings for a learner that starts from trained weights: those of a preset would first destroy what it has learned.
FINE_TUNING = {"learning_rate": 1e-4, "learning_rate_end": 1e-5, "ent_coef": 0.002}


@dataclass(frozen=True)
class Gain:
    """What a learner gains over the agent in the same seats of the same deals, with that agent in all other seats.

    ``decisions``: of its training, including those of the copies. ``score`` and ``margin`` are points per game,
    ``*_ci95`` half the widths of their 95 % intervals over the deals.
    """

    seed: int
    checkpoint: str
    decisions: int
    deals: int
    score: float
    score_ci95: float
    margin: float
    margin_ci95: float


def best_response(
    target: str,
    config: TrainConfig,
    output: str | os.PathLike[str],
    seeds: Sequence[int] = (1, 2, 3),
    deals: int = 2000,
    from_scratch: bool = False,
    console: Console | None = None,
) -> dict[str, Any]:
    """Train one learner for each of the ``seeds`` among copies of ``target``, and measure what it gains.

    Args:
        target: an agent's spec.
        config: settings of the runs; who plays in training and in evaluations, and the seed, are set here.
        output: folder; existing runs in it with the same settings are resumed.
        deals: of the comparisons at the end, at least 10.
        from_scratch: do not start from the target's network, even if it is a policy.

    Of each run the last policy and the one that did best during training are compared on the deals "selection"; the
    best of each run is then measured on the deals "report", which no choice depended on. Returns what the file holds:
    ``target``, ``game``, ``options``, ``total_decisions`` (as requested), ``judged_by`` (see below), ``deal_set``,
    ``gain`` (a `Gain` as a dict, of the best), ``runs`` (one for each seed), ``target_score`` (the mean score of the
    target among copies of itself), ``catbox`` (version) and ``date``.

    Learners are judged by the score if that is the game's reward, otherwise by the margin.

    Raises ``ValueError`` for an algorithm without opponents in training, for seeds that are not different integers, and
    for a folder with runs of other settings; otherwise as ``catbox_train.train``.
    """
    console, output = console or Console(), check_path("output", output)
    check_instance("target", target, str, "the spec of an agent, such as 'random'")
    check_instance("config", config, TrainConfig, "settings, as load_config returns")
    seeds = _checked_seeds(seeds)
    configs = {seed: _among_copies(target, config, seed, from_scratch) for seed in seeds}
    for seed, settings in configs.items():
        _check_folder(output / f"seed-{seed}", settings)
    game = configs[seeds[0]].make_game()
    _check_result(output / RESULT_FILE, target, game)
    own = _match(game, target, target, deals, REPORT_SET)
    for seed, settings in configs.items():
        run = output / f"seed-{seed}"
        console.print(f"\nLearner {seeds.index(seed) + 1} of {len(seeds)}: seed {seed}", highlight=False)
        if (run / CONFIG_FILE).exists():
            resume(run, console, trust=True)  # its settings are the given ones
        else:
            train(settings, run, console)
    judged_by = "score" if game.reward == "score" else "margin"
    own_of_selection = _match(game, target, target, deals, "selection")
    chosen: dict[int, Gain] = {}
    for seed in seeds:
        candidates = [
            _gain(game, policy, target, deals, seed, "selection", own_of_selection)
            for policy in _policies(output / f"seed-{seed}", configs[seed])
        ]
        chosen[seed] = max(candidates, key=attrgetter(judged_by))
    best = max(chosen.values(), key=attrgetter(judged_by)).seed
    tested = {
        seed: _gain(game, gain.checkpoint, target, deals, seed, REPORT_SET, own)
        for seed, gain in chosen.items()
    }
    result = {
        "target": target,
        "game": game.id,
        "options": game.options,
        "total_decisions": config.total_decisions,
        "judged_by": judged_by,
        "deal_set": REPORT_SET,
        "target_score": own.standings[0].score,
        "gain": asdict(tested[best]),
        "runs": [asdict(gain) for gain in tested.values()],
        "catbox": catbox_env.__version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    write_atomically(output / RESULT_FILE, (json.dumps(result, indent=1) + "\n").encode())
    return result


def fine_tuning(target: str, config: TrainConfig) -> dict[str, float]:
    """Overrides for ``load_config`` for learners that start from the weights of ``target``; none if they cannot.

    `best_response` does not apply them by itself.
    """
    if not _settings_of(target, config.make_game()):
        return {}
    return {name: value for name, value in FINE_TUNING.items() if name in type(config).model_fields}


def _checked_seeds(seeds: Sequence[int]) -> list[int]:
    listed = is_sequence(seeds) and len(seeds) and all(is_integer(seed) and seed >= 0 for seed in seeds)
    if not listed or len({*seeds}) < len(seeds):
        raise ValueError(
            f"seeds = {short_repr(seeds)}: expected different integers of 0 or more, such as 1,2,3"
        )
    return [int(seed) for seed in seeds]


def _among_copies(target: str, config: TrainConfig, seed: int, from_scratch: bool) -> TrainConfig:
    """The settings of a learner with one seat among copies of ``target``. Raises ``ValueError``."""
    if not isinstance(config, SelfPlayConfig):
        raise ValueError(
            f"algorithm = {config.algorithm!r} has no opponents in training: use ppo, dmc or exit"
        )
    start = (
        {}
        if from_scratch or config.start_from or _outputs(config) == VALUES
        else (_settings_of(target, config.make_game()))
    )
    return config.replace(
        seed=seed, eval_opponents=[target], opponents={target: 1.0}, learner_seats=1, **start
    )


def _outputs(config: TrainConfig) -> str:
    """What the network of a run outputs for each action."""
    return getattr(algorithm_class(config.algorithm), "outputs", LOGITS)


def _settings_of(target: str, game: Game) -> dict[str, Any]:
    """The settings that make a learner start as ``target``; none unless that is a policy of a checkpoint or the zoo."""
    found = parse_spec(resolve(target, game))
    if found.kind is not Kind.ZOO and not (found.kind is Kind.POLICY and os.path.exists(found.path)):
        return {}
    checkpoint = load_policy(target, game, adapt=True)
    if checkpoint.adapted is not None:  # it is a network for other rules
        return {}
    if checkpoint.outputs == VALUES:
        return {}
    network = checkpoint.network.describe()
    names = ("hidden", "activation") if "hidden" in network else ("class", "options")
    settings = {"class": "network", "options": "network_options"}
    return {
        "start_from": target,
        **{settings.get(name, name): network[name] for name in names},
        "features": network.get("features_from", "features" in network),
        "action_features": "action_features" in network,
    }


def _check_folder(run: Path, config: TrainConfig) -> None:
    """Raise ``ValueError`` if the folder holds a run with other settings, and as `check_run`."""
    resolved, _ = check_run(config)
    if (run / CONFIG_FILE).exists() and (found := open_run(run, trust=True)) != resolved:
        now, before = resolved.as_dict(), found.as_dict()
        differing = [name for name in now if now[name] != before[name]]
        raise ValueError(
            f"{run} holds a run with other settings ({', '.join(differing)}): name another folder with --output"
        )


def _check_result(file: Path, target: str, game: Game) -> None:
    """Raise ``ValueError`` for a result of another target or other rules, which would be overwritten."""
    if not file.exists():
        return
    try:
        found = parse_json(read_text(file))
        about = [found[name] for name in ("target", "game", "options")]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{file} is damaged ({error!r}): move it away, or name another folder with --output"
        ) from None
    if about != [target, game.id, game.options]:
        raise ValueError(
            f"{file} is about {about[0]} in {about[1]} with {about[2]}: name another folder with --output"
        )


def _policies(run: Path, config: TrainConfig) -> list[str]:
    """The specs of the last policy of a finished run, and of the one that did best during training."""
    last = latest_checkpoint(run)
    found = [run / CHECKPOINTS_FOLDER / BEST_FOLDER, *([last] if last else [])]
    return [with_code(folder, config.policy_code()) for folder in found if folder.exists()]


def _match(game: Game, one: str, others: str, deals: int, deal_set: str) -> Result:
    return catbox_agents.evaluate(game, [one, others], deals, seed=DEAL_SETS[deal_set])


def _gain(game: Game, policy: str, target: str, deals: int, seed: int, deal_set: str, own: Result) -> Gain:
    """What ``policy`` gains over the target; ``own`` is the target's match with copies of itself on the same deals."""
    found = _match(game, policy, target, deals, deal_set)
    pairs = ((found.deal_scores, own.deal_scores), (found.deal_margins, own.deal_margins))
    differences = np.stack([one[:, 0].astype(np.float64) - other[:, 0] for one, other in pairs], axis=1)
    (score, margin), (score_ci95, margin_ci95) = (
        numbers.tolist() for numbers in mean_and_half_width(differences)
    )
    decisions = int(load_policy(policy, game).training["decisions"])
    return Gain(seed, policy, decisions, deals, score, score_ci95, margin, margin_ci95)
