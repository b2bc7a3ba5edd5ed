"""Metrics of a run in an experiment tracker: MLflow or Weights & Biases, wherever its own settings point."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from catbox_env.core.checks import check_choice
from catbox_train.runs.folder import open_run
from catbox_train.runs.loop import OnUpdate

#: The names are those of the packages.
TRACKERS = ("mlflow", "wandb")
#: The project, or MLflow's experiment.
PROJECT = "catbox"


@contextmanager
def tracking(tracker: str | None, run: Path) -> Iterator[OnUpdate | None]:
    """An ``on_update`` that logs each row to ``tracker``, by the number of decisions; None for no tracker.

    The tracker's run has the name of the folder ``run`` and its settings, a parameter each; it begins with the first
    row, anew when a run is resumed. Whatever fails in the tracker is said once, and the run goes on without it.

    Raises ``ValueError`` for an unknown tracker and one that is not installed.
    """
    if tracker is None:
        yield None
        return
    check_choice("tracker", tracker, TRACKERS)
    try:
        package = importlib.import_module(tracker)
    except ModuleNotFoundError as error:
        raise ValueError(f"tracker {tracker!r} needs {error.name}:  pip install {tracker}") from error
    except (Exception, SystemExit) as error:  # noqa: BLE001  (each tracker has errors of its own)
        _say(tracker, error)
        yield None
        return
    begun = failed = False

    def attempt(work: Callable[[], Any]) -> None:
        nonlocal failed
        if not failed:
            try:
                work()
            except (Exception, SystemExit) as error:  # noqa: BLE001  (as above)
                failed = True
                _say(tracker, error)

    def begin() -> None:
        settings = open_run(run, trust=True).as_dict()  # the run has imported its modules
        if tracker == "mlflow":
            package.set_experiment(PROJECT)
            package.start_run(run_name=run.name)
            package.log_params(settings)
        else:
            package.init(project=PROJECT, name=run.name, config=settings)

    def log(row: Mapping[str, float]) -> None:
        nonlocal begun
        if not begun:
            begun = True
            attempt(begin)
        metrics = {tracked_name(name): value for name, value in row.items() if name != "decisions"}
        send = "log_metrics" if tracker == "mlflow" else "log"
        attempt(lambda: getattr(package, send)(metrics, step=int(row["decisions"])))

    finished = False
    try:
        yield log
        finished = True
    finally:
        if begun and tracker == "mlflow":
            attempt(lambda: package.end_run("FINISHED" if finished else "KILLED"))
        elif begun:
            attempt(lambda: package.finish())


def tracked_name(name: str) -> str:
    """The ``name`` of a metric as every tracker takes it: MLflow refuses ``=``, ``,``, ``./`` and more, which agents
    have."""
    group, slash, rest = name.partition("/")
    agent, last_slash, metric = rest.rpartition("/")
    group, agent, metric = (re.sub(r"^\.+|[^\w. :-]", "_", part) for part in (group, agent, metric))
    return f"{group}{slash}{agent}{last_slash}{metric}"


def _say(tracker: str, error: BaseException) -> None:
    print(f"{tracker} failed, and the run goes on without it: {error!r}", file=sys.stderr)
