"""A training run from its settings to its report, for any algorithm.

RUN/config.yaml      every setting          RUN/checkpoints/    see checkpoint.py
RUN/metrics.jsonl    metrics by update      RUN/tensorboard/    the same:  tensorboard --logdir RUN
RUN/results.json     the matches at the end RUN/learning.png    learning curves
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from catbox_agents.imports import is_class
from catbox_agents.networks.checkpoint import latest_checkpoint
from catbox_agents.specs import parse_spec
from catbox_agents.system.files import WriteError
from catbox_env import Game
from catbox_env.core.checks import check_instance, check_integer, check_path
from catbox_train.algorithm import Algorithm, DivergedError, Policy, State, WorkersLost
from catbox_train.config import TrainConfig
from catbox_train.devices import free_memory
from catbox_train.memory import check_memory
from catbox_train.processes import ParallelAlgorithm
from catbox_train.registry import algorithm_class
from catbox_train.runs.checkpoint import (
    Counters,
    best_margin,
    damage_error,
    load_training,
    save_best,
    save_training,
)
from catbox_train.runs.folder import (
    CONFIG_FILE,
    check_new,
    lengthen_run,
    locked,
    open_run,
    remove_leftovers,
    start_run,
)
from catbox_train.runs.metrics import MetricsLog, checked_metrics
from catbox_train.runs.progress import (
    Stopped,
    StopRequest,
    TrainingAborted,
    TrainingDiverged,
    TrainingInterrupted,
    resume_command,
    show,
    training_progress,
    what_is_kept,
)
from catbox_train.runs.report import evaluate_policy, final_report
from catbox_train.self_play_config import SelfPlayConfig, why_on_cpu

#: Gets each row of ``metrics.jsonl`` once it is complete; true: stop the run.
OnUpdate = Callable[[Mapping[str, float]], bool | None]


#: The run ends when workers are lost more often than this without a checkpoint in between.
MAX_LOSSES = 3
#: Takes the settings of a run and its game, and makes its algorithm.
MakeAlgorithm = Callable[[TrainConfig, Game], Algorithm]


def train(
    config: TrainConfig,
    output: str | os.PathLike[str],
    console: Console | None = None,
    make_algorithm: MakeAlgorithm | None = None,
    options: Sequence[str] = (),
    on_update: OnUpdate | None = None,
) -> dict[str, Any]:
    """Train with ``config`` in the new run folder ``output``; returns what ``results.json`` holds.

    ``make_algorithm`` makes the algorithm of a run whose processes are elsewhere: ``catbox_train.ray.OnRay``.
    ``options`` of the command, such as ``["--workers-on-ray", "8"]``, are included in the commands that messages name.
    ``on_update`` is called after every update with its row of ``metrics.jsonl``. If it returns True, the run is saved
    and ends as after Ctrl-C; an error that it raises ends the run with the last checkpoint.

    Raises ``ValueError`` for rules, opponents or a device that do not exist and for a run that does not fit into
    memory, ``FileExistsError`` if the folder holds a run already, ``OSError`` if it is not writable or another process
    trains in it; all before training starts. Ctrl-C (or SIGTERM, or SIGHUP) discards the update under way and raises
    ``TrainingInterrupted`` after saving, a second Ctrl-C ``TrainingAborted`` at once; ``resume`` continues from what is
    saved. A loss, gradient or weight that is not finite raises ``TrainingDiverged``, a file that cannot be written
    ``WriteError``, processes that are lost for good ``ChildProcessError`` (both are ``OSError``); the last checkpoint
    is kept. On Linux, calling ``memory.keep_freed_memory()`` first makes training about a tenth faster.
    """
    run = check_path("output", output)
    config, game = check_run(config)
    return _run(config, game, run, console or Console(), True, make_algorithm, options, on_update)


def resume(
    output: str | os.PathLike[str],
    console: Console | None = None,
    trust: bool = False,
    device: str | None = None,
    make_algorithm: MakeAlgorithm | None = None,
    options: Sequence[str] = (),
    on_update: OnUpdate | None = None,
    total_decisions: int | None = None,
) -> dict[str, Any]:
    """Resume the run in the folder ``output``, exactly as if it had not been stopped.

    ``total_decisions`` makes the run longer or shorter: from here on, what changes over a run, such as the learning
    rate, follows the new total. Without ``trust``, no module that ``config.yaml`` names is imported. ``device``
    moves the run to another device: from the same weights and games, but with other rounding. ``make_algorithm``,
    ``options`` and ``on_update`` as for ``train``.

    Raises ``FileNotFoundError`` if the folder holds no run, ``ValueError`` if its checkpoint is damaged or does not fit
    ``config.yaml``, or if an opponent or the device no longer exists or needs ``trust``, ``OSError`` if another process
    trains in the folder; and during training what ``train`` raises.
    """
    run = check_path("output", output)
    config = open_run(run, trust)
    changes = {"device": device, "total_decisions": total_decisions}
    config = config.replace(**{name: value for name, value in changes.items() if value is not None})
    config, game = check_run(config, new=False)
    return _run(config, game, run, console or Console(), False, make_algorithm, options, on_update)


def check_run(config: TrainConfig, new: bool = True, now: bool = True) -> tuple[TrainConfig, Game]:
    """``config`` resolved for good, so that the run resumes unchanged on another machine, and its game.

    Raises ``ValueError`` for rules, agents, files or a device that do not exist or cannot be used, and for a run that
    does not fit into memory; unless the run begins ``now``, only for one that this machine can never hold. ``new`` is
    off for a run that is resumed. Trains and writes nothing.
    """
    check_instance("config", config, TrainConfig, "settings, as load_config returns")
    game = config.make_game()
    config.check_agents(game)
    kind = algorithm_class(config.algorithm)
    if config.workers == "auto" and not kind.processes:
        config = config.replace(workers=1)
    config = config.resolved(game)
    assert config.workers != "auto"
    if config.workers > 1 and not kind.processes:
        raise ValueError(f"workers = {config.workers}: {config.algorithm} learns in one process; use 1")
    with _memory_for(config, new):
        needed = kind.memory_needed(config, game)
        if not isinstance(config, SelfPlayConfig) or why_on_cpu(config, game):
            check_memory(config.workers * needed, now)
        free = free_memory(torch.device(config.device))
        if now and free is not None and needed > free:
            raise MemoryError(
                f"{needed / 1e9:,.1f} GB are needed, {free / 1e9:,.1f} GB are free on {config.device}"
            )
        kind.check_run(config, game)
    return config, game


def make_algorithm_here(config: TrainConfig, game: Game) -> Algorithm:
    """The algorithm of a run, with ``config.workers`` processes on this machine."""
    if config.workers != 1:
        return ParallelAlgorithm(config, game)
    return algorithm_class(config.algorithm)(config, game)


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
    specs = [spec for found in config.agents().values() for spec in found]
    if is_class(config.algorithm) or config.code() or any(parse_spec(spec).needs_trust for spec in specs):
        options = ["--trust", *options]
    losses, before = 0, None
    with StopRequest() as stop, own_torch_settings(config.device):
        while True:
            if new:
                check_new(run)
            made = False
            try:
                # Before anything is written.
                with _memory_for(config, new), _advice_on_resuming(run, options, begun=not new):
                    algorithm = stop.repeatable(lambda: (make_algorithm or make_algorithm_here)(config, game))
                made = True
                return _run_once(config, game, run, console, new, algorithm, options, on_update, stop)
            except Stopped as stopped:
                raise TrainingInterrupted(run, None, options, stopped.signal) from None
            except WorkersLost as lost:
                if stop.requested is not None:
                    raise TrainingAborted(run, options, stop.requested) from lost
                new = new and not made  # the folder is this run's own once it has begun
                last = None if new else latest_checkpoint(run)
                losses, before = losses + 1 if last == before else 1, last
                if losses > MAX_LOSSES:
                    raise ChildProcessError(
                        f"workers were lost {losses} times without a checkpoint in between: {lost}"
                    ) from lost
                where = (
                    f"from the last checkpoint, {last}"
                    if last
                    else "from the start, as there is no checkpoint"
                )
                said = f"Workers were lost ({lost}). The run resumes {where}."
                show(console, said)


def _run_once(
    config: TrainConfig,
    game: Game,
    run: Path,
    console: Console,
    new: bool,
    algorithm: Algorithm,
    options: Sequence[str],
    on_update: OnUpdate | None,
    stop: StopRequest,
) -> dict[str, Any]:
    try:
        try:
            with locked(run):
                if new:
                    start_run(run, config)
                remove_leftovers(run)
                loop = Loop(config, game, run, algorithm, options, on_update)
                if config.device.startswith("cuda") and isinstance(config, SelfPlayConfig):
                    reason = why_on_cpu(config, game)
                    where = (
                        f"{config.device}, where the network is" if reason is None else f"the CPU ({reason})"
                    )
                    show(console, f"Games are played on {where}.")
                try:
                    with _memory_for(config, new), _advice_on_resuming(run, options, begun=True):
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
    except (MemoryError, torch.OutOfMemoryError) as error:
        reason = f" ({error})" if str(error) else ""
        if not new:  # its settings cannot change
            raise ValueError(
                f"not enough memory to resume the run: free some, then try again{reason}"
            ) from error
        sizes = {name: getattr(config, name) for name in (*config.size_settings, "workers")}
        given = ", ".join(
            f"{name} = {list(value) if isinstance(value, tuple) else value}" for name, value in sizes.items()
        )
        raise ValueError(f"not enough memory for {given}: make one of them smaller{reason}") from error


@contextmanager
def own_torch_settings(learns_on: str = "cpu") -> Iterator[None]:
    """Within it, torch has the settings that training is made for, whatever the program has chosen for itself: the
    current GPU is the one that a run ``learns_on`` (cpu, cuda:N), as games on it need.

    Each process computes in one thread: threads of torch spin while they wait for one another.
    """
    kind, device, threads = torch.get_default_dtype(), torch.get_default_device(), torch.get_num_threads()
    try:
        torch.set_default_dtype(torch.float32)
        if device.type != "cpu":  # to set it costs time in every call of torch
            torch.set_default_device("cpu")
        torch.set_num_threads(1)
        gpu = torch.device(learns_on).index if learns_on.startswith("cuda") else -1  # -1: as it is
        with (
            torch.cuda.device(gpu),
            torch.inference_mode(False),
            torch.enable_grad(),
            torch.autocast("cpu", enabled=False),
        ):
            yield
    finally:
        torch.set_default_dtype(kind)
        if device.type != "cpu":
            torch.set_default_device(device)
        torch.set_num_threads(threads)


class Loop:
    """A run in progress: the algorithm, and how far it has come. ``options`` and ``on_update`` as for `train`."""

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

    @property
    def is_over(self) -> bool:
        """Whether all decisions have been made."""
        return self.done.decisions >= self.config.total_decisions

    def train(self, console: Console, stop: StopRequest) -> None:
        """Update until all decisions are made, or ``stop`` is requested, which raises `TrainingInterrupted`."""
        config, done = self.config, self.done
        log = MetricsLog(self.run, done.update)
        with log, training_progress(config, done.decisions, console) as progress:
            if log.notice:
                progress.say(log.notice)
            self.best_margin = best_margin(self.run, log.rows, config.eval_opponents)
            requested = stop.requested
            if log.rows and log.rows[-1]["update"] == done.update and self.is_due(log.rows[-1]):
                last = dict(log.rows[-1])  # the run was stopped before its evaluation
                last |= self.evaluate(last, log, progress.say, stop)
                if not self.is_due(last) and self.on_update(last):
                    requested = signal.SIGINT
                requested = requested if stop.requested is None else stop.requested
            learned = self.learned()
            while not self.is_over and requested is None:
                began = time.perf_counter()
                try:
                    decisions, metrics = stop.repeatable(
                        lambda: self.algorithm.update(done.update, done.decisions / config.total_decisions)
                    )
                    metrics = checked_metrics(metrics, config.algorithm)
                    decisions = check_integer(f"decisions of an update of {config.algorithm}", decisions, 1)
                    learned = self.learned()
                except Stopped as stopped:
                    requested = stopped.signal
                    if done.update:
                        log.sync()
                        self.save(*learned)
                    break
                except DivergedError as error:
                    raise self.diverged(done.update + 1, error) from error
                seconds = time.perf_counter() - began
                done.update += 1
                done.decisions += decisions
                done.seconds += seconds
                row: dict[str, float] = {"update": done.update, "decisions": done.decisions, **metrics}
                row["speed/decisions_per_second"] = decisions / seconds
                progress.advance(row)
                log.write(row)
                requested = stop.requested
                if not self.is_over:  # a stopped run is evaluated when it is resumed
                    if requested is None and self.is_due(row):
                        row |= self.evaluate(row, log, progress.say, stop)
                    if not self.is_due(row) and self.on_update(dict(row)):
                        requested = signal.SIGINT
                    requested = requested if stop.requested is None else stop.requested
                if done.update % config.checkpoint_every == 0 or self.is_over or requested is not None:
                    log.sync()
                    self.save(*learned)
                if self.is_over:  # what was learned is safe by now
                    if self.is_due(row):
                        row |= self.evaluate(row, log, progress.say, stop)
                    if not self.is_due(row):
                        self.on_update(row)
        if requested is not None:
            raise TrainingInterrupted(self.run, done.decisions, self.options, requested)

    def is_due(self, row: Mapping[str, float]) -> bool:
        """Whether the policy is to be evaluated after the update of ``row``, and has not been yet.

        The first evaluation shows where learning starts.
        """
        if any(name.startswith("evaluation/") for name in row) or not self.config.eval_opponents:
            return False
        return self.done.update == 1 or self.done.update % self.config.evaluate_every == 0 or self.is_over

    def evaluate(
        self, row: Mapping[str, float], log: MetricsLog, say: Callable[[str], None], stop: StopRequest
    ) -> dict[str, float]:
        """Metrics of the policy against ``eval_opponents``, added to ``row``, the last one of ``log``. Saves the policy
        if it did better than any before. If ``stop`` is requested, none: a resumed run evaluates."""
        config, done = self.config, self.done
        policy = self.algorithm.policy()
        try:
            found = stop.repeatable(lambda: evaluate_policy(config, self.game, policy, done.decisions, say))
        except Stopped:
            return {}
        margins = [found[f"evaluation/{name}/margin"] for name in config.eval_opponents]
        margin = sum(margins) / len(margins)
        if margin > self.best_margin:
            self.best_margin = margin
            save_best(self.run, done, config.as_dict(), policy, margin)
        log.extend(row, found)
        return found

    def learned(self) -> tuple[Policy, State]:
        """What a checkpoint holds, copied: the next update changes it, and may be discarded."""
        return self.algorithm.policy(), {name: array.copy() for name, array in self.algorithm.state().items()}

    def save(self, policy: Policy, state: State) -> None:
        """Write a checkpoint. Raises ``TrainingDiverged`` for numbers that are not finite."""
        try:
            save_training(self.run, self.done, self.config.as_dict(), policy, state)
        except DivergedError as error:
            raise self.diverged(self.done.update, error) from error

    def diverged(self, update: int, error: DivergedError) -> TrainingDiverged:
        """What to raise for numbers of ``update`` that are not finite."""
        return TrainingDiverged(
            self.run, update, str(error), getattr(self.config, "learning_rate", None), self.options
        )

    def load_latest(self) -> None:
        """Resume from the latest checkpoint of the run, if there is one. Raises ``ValueError`` if it is damaged, or if
        it has made all decisions of a new total."""
        folder, total = latest_checkpoint(self.run), self.config.total_decisions
        if folder is not None:
            self.done, state = load_training(folder, self.config.as_dict())
            try:
                self.algorithm.restore(state)
            except (ValueError, KeyError) as error:
                raise damage_error(folder, ValueError(str(error))) from error
        done = self.done
        if done.segments and done.segments[-1][1] == total:
            return
        if total <= done.decisions:
            raise ValueError(
                f"total_decisions = {total:,}: {self.run} has made {done.decisions:,} decisions; give more"
            )
        done.segments.append([done.decisions, total])
        lengthen_run(self.run, total)
