"""Search for settings of training with Optuna, which prunes runs that do worse than others at the same point.

pip install -e '.[train]' optuna
python examples/optuna_search.py
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp

import optuna
from rich.console import Console

from catbox_train import TrainingInterrupted, load_config, train

TRIALS, DECISIONS = map(int, sys.argv[1:]) if len(sys.argv) > 1 else (12, 2_000_000)
FOLDER = Path(mkdtemp(prefix="catbox-optuna-"))
MARGIN = "evaluation/heuristic/margin"


def objective(trial: optuna.Trial) -> float:
    settings = {
        "learning_rate": trial.suggest_float("learning_rate", 1e-4, 3e-3, log=True),
        "ent_coef": trial.suggest_float("ent_coef", 0.001, 0.05, log=True),
    }
    fixed = {"total_decisions": DECISIONS, "eval_opponents": ["heuristic"], "workers": 1}
    fixed |= {"evaluate_every": 2, "evaluate_deals": 100, "final_deals": 100}
    last, pruned = 0.0, False

    def on_update(row: Mapping[str, float]) -> bool:
        nonlocal last, pruned
        if MARGIN not in row:
            return False
        last = row[MARGIN]
        trial.report(last, int(row["update"]))
        pruned = trial.should_prune()
        return pruned

    try:
        config = load_config("quick", overrides=settings | fixed)
        train(config, FOLDER / str(trial.number), Console(quiet=True), on_update=on_update)
    except TrainingInterrupted:
        if not pruned:  # Ctrl-C
            raise
        raise optuna.TrialPruned from None
    return last


if __name__ == "__main__":
    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=0),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=3),
    )
    study.optimize(objective, n_trials=TRIALS)
    states = [trial.state.name for trial in study.trials]
    print(f"{states.count('COMPLETE')} runs complete, {states.count('PRUNED')} pruned")
    print(f"best: {study.best_params}, margin {study.best_value:+.2f}")
