"""A training run from its settings to its report, for any algorithm.

RUN/config.yaml      every setting          RUN/checkpoints/    see checkpoint.py
RUN/metrics.jsonl    metrics by update      RUN/tensorboard/    the same:  tensorboard --logdir RUN
RUN/results.json     the matches at the end RUN/learning.png    learning curves
"""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from catbox_agents.files import WriteError
from catbox_agents.networks.checkpoint import POLICY_FILE, latest_checkpoint, load_checkpoint
from catbox_agents.specs import asks_server, imports_module
from catbox_env import Game
from catbox_train.algorithm import (
    Algorithm,
    DivergedError,
    MakeAlgorithm,
    TrainingState,
    WorkersLost,
    algorithm_class,
)
from catbox_train.config import TrainConfig
from catbox_train.memory import check_memory
from catbox_train.runs.checkpoint import best_margin, damage_error, load_training, save_best, save_training
from catbox_train.runs.folder import CONFIG_FILE, locked, open_run, remove_leftovers, start_run
from catbox_train.runs.metrics import MetricsLog, checked_metrics
from catbox_train.runs.progress import (
    StopRequest,
    TrainingAborted,
    TrainingDiverged,
    TrainingInterrupted,
    resume_command,
    training_progress,
    what_is_kept,
)
from catbox_train.runs.report import evaluate_policy, final_report

#: Gets each row of ``metrics.jsonl`` once it is complete; true: stop the run.
OnUpdate = Callable[[Mapping[str, float]], bool | None]


@dataclass
class Counters:
    """How far a run has come. ``seconds`` counts playing and learning, not evaluations."""

    update: int = 0
    decisions: int = 0
    seconds: float = 0.0


def train(
    config: TrainConfig,
    output: str | os.PathLike[str],
    console: Console | None = None,
    make_algorithm: MakeAlgorithm | None = None,
    options: Sequence[str] = (),
    on_update: OnUpdate | None = None,
) -> dict[str, Any]:
    """Train with ``config`` in the new run folder ``output``; returns what ``results.json`` holds.

    ``make_algorithm`` makes the algorithm of a run that learns elsewhere: ``catbox_train.ray.RayWorkers.algorithm``.
    ``options`` of the command, such as ``["--workers-on-ray", "8"]``, are included in the commands that messages name.
    ``on_update`` is called after every update with its row of ``metrics.jsonl``. If it returns True, the run is saved
    and ends as after Ctrl-C; an error that it raises ends the run with the last checkpoint.

    Raises ``ValueError`` for rules, opponents or a device that do not exist and for a run that does not fit into
    memory, ``FileExistsError`` if the folder holds a run already, ``OSError`` if it is not writable or another process
    trains in it; all before training starts. Ctrl-C (or SIGTERM, or SIGHUP) raises ``TrainingInterrupted`` after
    saving, a second Ctrl-C ``TrainingAborted`` at once; ``resume`` continues from what is saved. A loss, gradient or
    weight that is not finite raises ``TrainingDiverged``, a file that cannot be written ``WriteError``, workers on Ray
    that are lost for good ``ChildProcessError`` (both are ``OSError``), a batch with too few decisions to learn from
    ``ValueError``; the last checkpoint is kept. On Linux, calling ``memory.keep_freed_memory()`` first makes training
    about a tenth faster.
    """
    config, game = check_run(config, now=make_algorithm is None, here=make_algorithm is None)
    return _run(config, game, Path(output), console or Console(), True, make_algorithm, options, on_update)


def resume(
    output: str | os.PathLike[str],
    console: Console | None = None,
    trust: bool = False,
    device: str | None = None,
    make_algorithm: MakeAlgorithm | None = None,
    options: Sequence[str] = (),
    on_update: OnUpdate | None = None,
) -> dict[str, Any]:
    """Resume the run in the folder ``output``, exactly as if it had not been stopped.

    Without ``trust``, no module that ``config.yaml`` names is imported. ``device`` moves the run to another device:
    from the same weights and games, but with other rounding. ``make_algorithm``, ``options`` and
    ``on_update`` as for ``train``.

    Raises ``FileNotFoundError`` if the folder holds no run, ``ValueError`` if its checkpoint is damaged or does not fit
    ``config.yaml``, or if an opponent or the device no longer exists or needs ``trust``, ``OSError`` if another process
    trains in the folder; and during training what ``train`` raises.
    """
    run = Path(output)
    config = open_run(run, trust)
    if device is not None:
        config = config.replace(device=device)
    config, game = check_run(config, new=False, now=make_algorithm is None, here=make_algorithm is None)
    return _run(config, game, run, console or Console(), False, make_algorithm, options, on_update)


def check_run(
    config: TrainConfig, new: bool = True, now: bool = True, here: bool = True
) -> tuple[TrainConfig, Game]:
    """``config`` resolved for good, so that the run resumes unchanged on another machine, and its game.

    Raises ``ValueError`` for rules, agents, files or a device that do not exist or cannot be used, and for a run that
    does not fit into memory; unless the run begins ``now``, only for one that this machine can never hold. ``new`` is
    off for a run that is resumed, ``here`` for one whose workers are on other machines. Trains and writes nothing.
    """
    game = config.make_game()
    config.check_agents(game)
    config = config.resolved(here)
    kind = algorithm_class(config.algorithm)
    with _memory_for(config, new):
        check_memory(kind.memory_needed(config, game), now)
        kind.check_run(config, game)
    return config, game


def _run(
    config: TrainConfig,
    game: Game,
    run: Path,
    console: Console,
    new: bool,
    make_algorithm: MakeAlgorithm | None,
    options: Sequence[str],
    on_update: OnUpdate | None,
) -> dict[str, Any]:
    specs = [spec for found in config.specs().values() for spec in found]
    if any(imports_module(spec) or asks_server(spec) for spec in specs):
        options = ["--trust", *options]
    with StopRequest() as stop:
        while True:
            try:
                return _run_once(config, game, run, console, new, make_algorithm, options, on_update, stop)
            except WorkersLost as lost:
                if stop.requested is not None:
                    raise TrainingAborted(run, options, stop.requested) from lost
                new = not (run / CONFIG_FILE).exists()
                last = latest_checkpoint(run)
                where = (
                    f"from the last checkpoint, {last}"
                    if last
                    else "from the start, as there is no checkpoint"
                )
                said = f"Workers were lost ({lost}). The run resumes {where}."
                console.print(said, soft_wrap=True, markup=False, highlight=False)


def _run_once(
    config: TrainConfig,
    game: Game,
    run: Path,
    console: Console,
    new: bool,
    make_algorithm: MakeAlgorithm | None,
    options: Sequence[str],
    on_update: OnUpdate | None,
    stop: StopRequest,
) -> dict[str, Any]:
    try:
        # Before anything is written.
        with _memory_for(config, new), _advice_on_resuming(run, options, begun=not new):
            algorithm = (make_algorithm or algorithm_class(config.algorithm))(config, game)
        try:
            with locked(run):
                if new:
                    start_run(run, config)
                remove_leftovers(run)
                loop = Loop(config, game, run, algorithm, options, on_update)
                try:
                    with _advice_on_resuming(run, options, begun=True):
                        loop.load_latest()
                        loop.train(console, stop)
                except TrainingInterrupted:
                    raise
                except KeyboardInterrupt:  # second Ctrl-C
                    raise TrainingAborted(run, options) from None
                stop.restore()
                if stop.requested is not None:
                    raise TrainingInterrupted(run, loop.done.decisions, options, stop.requested)
                try:
                    return final_report(config, game, run, algorithm.policy(), asdict(loop.done), console)
                except KeyboardInterrupt:  # all is saved: resuming only plays these matches
                    raise TrainingInterrupted(run, loop.done.decisions, options) from None
        finally:
            algorithm.close()
    except WriteError as error:
        if not (run / CONFIG_FILE).exists():  # nothing to resume
            raise
        raise WriteError(f"{error}. Then resume with:  {resume_command(run, options)}") from error


@contextmanager
def _advice_on_resuming(run: Path, options: Sequence[str], begun: bool) -> Iterator[None]:
    """Says how to continue if a process of the algorithm is lost. ``begun``: there is a run to resume."""
    try:
        yield
    except ChildProcessError as error:
        advice = "nothing has been written yet. Start the run again"
        if begun:
            advice = f"{what_is_kept(run)}. Resume with:  {resume_command(run, options)}"
        raise ChildProcessError(f"{error}; {advice}") from error


@contextmanager
def _memory_for(config: TrainConfig, new: bool) -> Iterator[None]:
    """Raises ``ValueError`` if memory runs out, with the settings to change in a ``new`` run."""
    try:
        yield
    except MemoryError as error:
        reason = f" ({error})" if str(error) else ""
        if not new:  # its settings cannot change
            raise ValueError(
                f"not enough memory to resume the run: free some, then try again{reason}"
            ) from error
        options = config.algorithm_options
        sizes = {name: getattr(options, name) for name in options.size_settings}
        sizes |= {name: getattr(config, name) for name in ("batch_size", "num_envs", "workers")}
        given = ", ".join(
            f"{name} = {list(value) if isinstance(value, tuple) else value}" for name, value in sizes.items()
        )
        raise ValueError(f"not enough memory for {given}: make one of them smaller{reason}") from error


class Loop:
    """A run in progress: the algorithm, and how far it has come. ``options`` and ``on_update`` as for
    ``train``."""

    def __init__(
        self,
        config: TrainConfig,
        game: Game,
        run: Path,
        algorithm: Algorithm,
        options: Sequence[str] = (),
        on_update: OnUpdate | None = None,
    ) -> None:
        self.config, self.game, self.run, self.algorithm = config, game, run, algorithm
        self.options = options
        self.on_update = on_update or (lambda row: None)
        self.done = Counters()
        self.best_margin = -math.inf

    def train(self, console: Console, stop: StopRequest) -> None:
        """Update until all decisions are made, or ``stop`` is requested, which raises `TrainingInterrupted`."""
        config, done = self.config, self.done
        log = MetricsLog(self.run, done.update)
        with log, training_progress(config, done.decisions, console) as progress:
            self.best_margin = self.best_margin_so_far(progress.say)
            if log.notice:
                progress.say(log.notice)
            requested = stop.requested
            while done.update < config.num_updates and requested is None:
                began = time.perf_counter()
                try:
                    metrics = self.algorithm.update(done.update / max(1, config.num_updates - 1))
                    metrics = checked_metrics(metrics, config.algorithm)
                except DivergedError as error:
                    raise self.diverged(done.update + 1, error) from error
                seconds = time.perf_counter() - began
                done.update += 1
                done.decisions += config.batch_size
                done.seconds += seconds
                row = {"update": done.update, "decisions": done.decisions, **metrics}
                row["speed/decisions_per_second"] = config.batch_size / seconds
                progress.advance(row)

                last = done.update == config.num_updates
                if done.update % config.evaluate_every == 0 and not last:
                    row |= self.evaluate(progress.say)
                log.write(row)
                stopped = not last and self.on_update(dict(row))
                # Read once: what is asked for from now on waits for the next update.
                requested = signal.SIGINT if stopped and stop.requested is None else stop.requested
                if done.update % config.checkpoint_every == 0 or last or requested is not None:
                    log.sync()
                    self.save()
                if last:  # what was learned is safe by now
                    found = self.evaluate(progress.say)
                    log.extend(row, found)
                    self.on_update({**row, **found})
        if requested is not None:
            raise TrainingInterrupted(self.run, done.decisions, self.options, requested)

    def evaluate(self, say: Callable[[str], None]) -> dict[str, float]:
        """Metrics of the policy against the opponents. Saves the policy if it did better than any before."""
        policy, done = self.algorithm.policy(), self.done
        row = evaluate_policy(self.config, self.game, policy, done.decisions, say)
        margins = [row[f"evaluation/{name}/margin"] for name in self.config.opponents]
        margin = float(np.mean(margins)) if margins else -math.inf
        if margin > self.best_margin:
            self.best_margin = margin
            training = {
                "algorithm": self.config.algorithm,
                "update": done.update,
                "decisions": done.decisions,
                "margin": margin,
            }
            save_best(self.run, policy, self.game, training)
        return row

    def best_margin_so_far(self, say: Callable[[str], None]) -> float:
        """The margin of ``checkpoints/best``; if that is damaged, the next evaluation replaces it."""
        try:
            return best_margin(self.run, self.game)
        except (ValueError, OSError) as error:
            say(f"The next evaluation replaces the best policy so far, which cannot be used: {error}")
            return -math.inf

    def save(self) -> None:
        """Write a checkpoint. Raises ``TrainingDiverged`` for numbers that are not finite."""
        state = self.algorithm.state()
        values = {**asdict(self.done), "config": self.config.as_dict(), "algorithm": state.values}
        try:
            policy = self.algorithm.policy()
            save_training(self.run, self.done.update, policy, self.game, TrainingState(state.arrays, values))
        except DivergedError as error:
            raise self.diverged(self.done.update, error) from error

    def diverged(self, update: int, error: DivergedError) -> TrainingDiverged:
        """What to raise for numbers of ``update`` that are not finite."""
        safer = self.config.algorithm_options.safer()
        return TrainingDiverged(self.run, update, str(error), safer, self.options)

    def load_latest(self) -> None:
        """Resume from the latest checkpoint of the run, if there is one. Raises ``ValueError`` if it is damaged."""
        folder = latest_checkpoint(self.run)
        if folder is None:
            return
        saved = load_training(folder, self.config.as_dict(), self.algorithm.state().arrays)
        try:
            done = self._counters(saved.values, int(folder.name))
            values = saved.values.get("algorithm")
            if not isinstance(values, dict):
                raise ValueError(f"algorithm = {values!r:.40}, expected a mapping")
            self.algorithm.restore(TrainingState(saved.arrays, values), done.update)
            policy = load_checkpoint(folder / POLICY_FILE, self.game).network.arrays()
            own = self.algorithm.policy().arrays()
            if policy.keys() != own.keys() or not all(
                np.array_equal(policy[name], own[name]) for name in own
            ):
                raise ValueError(f"{POLICY_FILE} holds another network than the one that learns")
        except (OSError, ValueError) as error:
            raise damage_error(folder, error) from error
        self.done = done

    def _counters(self, values: dict[str, Any], update: int) -> Counters:
        """The counters of checkpoint ``update``. Raises ``ValueError`` for values that no run reaches."""
        config = self.config
        counters: dict[str, Any] = {name: values.get(name) for name in asdict(self.done)}
        done = Counters(**counters)
        counts = type(done.update) is int and type(done.decisions) is int
        if not counts or (done.update, done.decisions) != (update, update * config.batch_size):
            raise ValueError(
                f"update = {done.update!r:.40}, decisions = {done.decisions!r:.40}, expected {update} and "
                f"{update * config.batch_size}"
            )
        if not 1 <= update <= config.num_updates:
            raise ValueError(f"update = {update}, expected 1 to {config.num_updates}")
        if type(done.seconds) is not float or not 0 <= done.seconds < math.inf:
            raise ValueError(f"seconds = {done.seconds!r:.40}, expected a number from 0")
        return done
