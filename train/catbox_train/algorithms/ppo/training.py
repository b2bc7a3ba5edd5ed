"""Self-play training by PPO (Schulman et al. 2017, https://arxiv.org/abs/1707.06347), read from ``train`` down.

One network plays every seat. Worker threads play games side by side; each seat's transition runs from its own
decision to its own next one (``gae``), illegal actions do not exist for the policy (``distribution``). In learning,
each worker computes the gradient of its share of a minibatch; the shares are added up in a fixed order, and one
step of Adam moves the shared weights. So a run depends on its configuration alone, never on timing, and a resumed
run ends with the same weights, bit for bit, as one that was never stopped.

    RUN/config.yaml      every setting          RUN/checkpoints/    see checkpoint.py
    RUN/metrics.jsonl    metrics by update      RUN/tensorboard/    the same:  tensorboard --logdir RUN
    RUN/results.json     the matches at the end RUN/learning.png    learning curves
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console

import catbox_agents
from catbox_agents.files import WriteError
from catbox_agents.networks.checkpoint import POLICY_FILE, latest_checkpoint, load_checkpoint
from catbox_agents.specs import imports_module
from catbox_env import Game
from catbox_train.algorithms.ppo.adam import LARGEST_STEP, Adam
from catbox_train.algorithms.ppo.loss import (
    LEARNING_METRICS,
    check_outputs,
    explained_variance,
    normalise_advantages,
)
from catbox_train.algorithms.ppo.networks import ActorCritic, SharedWeights, native_precision, weight_bytes
from catbox_train.algorithms.ppo.rollout import Worker, buffer_bytes, check_enough_to_learn
from catbox_train.algorithms.ppo.update import Update
from catbox_train.config import TrainConfig
from catbox_train.memory import check_memory
from catbox_train.runs.arrays import DivergedError
from catbox_train.runs.checkpoint import (
    TrainingState,
    best_margin,
    damage_error,
    load_training,
    save_best,
    save_training,
)
from catbox_train.runs.folder import (
    CONFIG_FILE,
    check_trusted,
    locked,
    open_run,
    remove_leftovers,
    start_run,
)
from catbox_train.runs.metrics import MetricsLog
from catbox_train.runs.progress import (
    StopRequest,
    TrainingAborted,
    TrainingDiverged,
    TrainingInterrupted,
    resume_command,
    training_progress,
)
from catbox_train.runs.report import evaluate_policy, final_report


@dataclass
class Counters:
    """How far a run has come. ``seconds`` counts playing and learning, not evaluations."""

    update: int = 0
    decisions: int = 0
    seconds: float = 0.0


def train(
    config: TrainConfig, output: str | os.PathLike[str], console: Console | None = None
) -> dict[str, Any]:
    """Train as ``config`` says in the new run folder ``output``; what ``results.json`` holds.

    Raises ``ValueError`` for rules or opponents that do not exist and for a run that does not fit into memory,
    ``FileExistsError`` when the folder holds a run already, ``OSError`` when it cannot be written or another process
    trains in it; all before anything is trained. Ctrl-C (or SIGTERM, or SIGHUP) raises ``TrainingInterrupted`` after
    saving, a second Ctrl-C ``TrainingAborted`` at once; ``resume`` goes on from what is saved. A loss, gradient or
    weight that is not finite raises ``TrainingDiverged``, a file that cannot be written ``WriteError``, a batch with
    too few decisions to learn from ``ValueError``; the last checkpoint is kept. On Linux ``memory.keep_freed_memory()``
    makes training about a tenth faster, if it is called before.
    """
    game = config.make_game()
    _check_opponents(config, game)
    if config.precision == "auto":  # settled for good, so that the run goes on the same on another machine
        config = config.replace(precision=native_precision())
    return _run(config, game, Path(output), console or Console(), new=True)


def resume(
    output: str | os.PathLike[str], console: Console | None = None, trust: bool = False
) -> dict[str, Any]:
    """Go on with the run in the folder ``output``, exactly as if it had not been stopped.

    Without ``trust``, no module is imported that ``config.yaml`` names for opponents. Raises ``FileNotFoundError`` when
    the folder holds no run, ``ValueError`` when its checkpoint is damaged or does not fit ``config.yaml`` or an
    opponent does not exist any more or takes ``trust``, ``OSError`` when another process trains in the folder; and
    in training what ``train`` raises.
    """
    run = Path(output)
    config = open_run(run)
    check_trusted(config.opponents, run / CONFIG_FILE, trust)
    game = config.make_game()
    _check_opponents(config, game)
    return _run(config, game, run, console or Console(), new=False)


def _trusted(config: TrainConfig) -> bool:
    """Whether to go on with a run of ``config`` takes ``--trust``."""
    return any(imports_module(spec) for spec in config.opponents)


def _check_opponents(config: TrainConfig, game: Game) -> None:
    for spec in config.opponents:
        catbox_agents.make(spec, game)  # refused now rather than at the first evaluation


def _run(config: TrainConfig, game: Game, run: Path, console: Console, new: bool) -> dict[str, Any]:
    threads_before = torch.get_num_threads()
    torch.set_num_threads(1)  # the cores are taken by the workers
    try:
        with ThreadPoolExecutor(config.workers, initializer=partial(torch.set_num_threads, 1)) as pool:
            trainer = _allocated(config, game, run, pool)  # before anything is written
            with locked(run):
                if new:
                    start_run(run, config)
                remove_leftovers(run)
                trainer.load_latest()
                try:
                    trainer.train(console)
                except TrainingInterrupted:
                    raise
                except KeyboardInterrupt:  # Ctrl-C for the second time
                    raise TrainingAborted(run, _trusted(config)) from None
                actor, done = trainer.weights.actor_to_play(), asdict(trainer.done)
                try:
                    return final_report(config, game, run, actor, done, console)
                except KeyboardInterrupt:  # all is saved: resuming plays these matches alone
                    raise TrainingInterrupted(run, trainer.done.decisions, _trusted(config)) from None
    except WriteError as error:
        if not (run / CONFIG_FILE).exists():  # nothing to go on with
            raise
        raise WriteError(f"{error}. Then go on with:  {resume_command(run, _trusted(config))}") from error
    finally:
        torch.set_num_threads(threads_before)


def _allocated(config: TrainConfig, game: Game, run: Path, pool: ThreadPoolExecutor) -> Trainer:
    """The trainer. Raises ``ValueError`` when it does not fit into memory."""
    try:
        check_memory(weight_bytes(game, config) + buffer_bytes(game, config))
        return Trainer(config, game, run, pool)
    except MemoryError as error:
        raise ValueError(
            f"not enough memory for hidden = {list(config.hidden)}, batch_size = {config.batch_size}, "
            f"num_envs = {config.num_envs}, workers = {config.workers}: make one of them smaller"
        ) from error


class Trainer:
    """The parts of a run under way: the weights, the optimizer, the workers, the counters."""

    def __init__(self, config: TrainConfig, game: Game, run: Path, pool: ThreadPoolExecutor) -> None:
        self.config, self.game, self.run, self.pool = config, game, run, pool
        self.weights = SharedWeights(ActorCritic(game, config), config)
        self.optimizer = Adam(len(self.weights.vector))
        seeds = np.random.SeedSequence(config.seed).spawn(config.workers)
        self.workers = [Worker(game, config, self.weights, seed, number) for number, seed in enumerate(seeds)]
        self.done = Counters()
        self.best_margin = -math.inf

    def train(self, console: Console) -> None:
        """Play and learn, batch by batch, until all decisions are made."""
        config, done = self.config, self.done
        log = MetricsLog(self.run, done.update)
        with log, StopRequest() as stop, training_progress(config, done.decisions, console) as progress:
            self.best_margin = self.best_margin_so_far(progress.say)
            if log.notice:
                progress.say(log.notice)
            while done.update < config.num_updates:
                began = time.perf_counter()
                through = done.update / max(1, config.num_updates - 1)
                learning_rate = _between(config.learning_rate, config.learning_rate_end, through)
                entropy_weight = _between(config.entropy, config.entropy_end, through)

                list(self.pool.map(Worker.collect, self.workers))
                try:
                    metrics = self.learn(learning_rate, entropy_weight)
                except DivergedError as error:
                    raise self.diverged(done.update + 1, error) from error

                seconds = time.perf_counter() - began
                done.update += 1
                done.decisions += config.batch_size
                done.seconds += seconds
                row: dict[str, float] = {"update": done.update, "decisions": done.decisions}
                row |= {f"learning/{name}": value for name, value in metrics.items()}
                row |= {f"game/{name}": value for name, value in self.game_metrics().items()}
                row["speed/decisions_per_second"] = config.batch_size / seconds
                progress.advance(row)

                last = done.update == config.num_updates
                if done.update % config.evaluate_every == 0 and not last:
                    row |= self.evaluate(progress.say)
                log.write(row)
                if done.update % config.checkpoint_every == 0 or last or stop.requested:
                    log.sync()
                    self.save()
                if last:  # what was learned is safe by now
                    log.extend(row, self.evaluate(progress.say))
                if stop.requested:
                    raise TrainingInterrupted(self.run, done.decisions, _trusted(config))

    def evaluate(self, say: Callable[[str], None]) -> dict[str, float]:
        """Metrics of the policy against the opponents. The policy is kept where it did better than any before."""
        actor, done = self.weights.actor_to_play(), self.done
        row = evaluate_policy(self.config, self.game, actor, done.decisions, say)
        margins = [row[f"evaluation/{name}/margin"] for name in self.config.opponents]
        margin = float(np.mean(margins)) if margins else -math.inf
        if margin > self.best_margin:
            self.best_margin = margin
            training = {"update": done.update, "decisions": done.decisions, "margin": margin}
            save_best(self.run, actor, self.game, training)
        return row

    def best_margin_so_far(self, say: Callable[[str], None]) -> float:
        """That of ``checkpoints/best``, which the next evaluation replaces where it is damaged."""
        try:
            return best_margin(self.run, self.game)
        except (ValueError, OSError) as error:
            say(f"The best policy so far does not count, the next evaluation replaces it: {error}")
            return -math.inf

    def learn(self, learning_rate: float, entropy_weight: float) -> dict[str, float]:
        """Improve the weights on what the workers have collected; the metrics of this update.

        Raises ``DivergedError`` for a loss, gradient, weight or output that is not finite, and for huge logits;
        ``ValueError`` for a batch with fewer decisions to learn from than minibatches.
        """
        config, weights = self.config, self.weights
        check_enough_to_learn(self.workers, self.done.update + 1)
        for worker in self.workers:
            if not np.isfinite(worker.returns.reshape(-1)[worker.ready]).all():
                raise DivergedError("a value of the critic is not finite")
        explained = explained_variance(self.workers)
        normalise_advantages(self.workers)
        update = Update(
            weights=weights,
            optimizer=self.optimizer,
            workers=self.workers,
            epochs=config.epochs,
            num_minibatches=config.num_minibatches,
            learning_rate=learning_rate,
            clip=config.clip,
            entropy_weight=entropy_weight,
            max_grad_norm=config.max_grad_norm,
        )
        update.run(self.pool)
        steps = config.epochs * config.num_minibatches
        means, norms = update.metrics.sum(axis=0) / steps, update.norms / steps
        for name, part in (("actor", weights.actor), ("critic", weights.critic)):
            if not weights.vector[part].isfinite().all():
                raise DivergedError(f"a weight of the {name} is not finite")
        for name, moment in self.optimizer.state.items():
            if not moment.isfinite().all():
                raise DivergedError(f"Adam's {name} is not finite")
        for name, value in zip(LEARNING_METRICS, means, strict=True):
            if not math.isfinite(value):
                raise DivergedError(f"{name} is not finite")
        # What the last step made of the networks.
        list(self.pool.map(check_outputs, self.workers, update.last_rows))
        metrics = dict(zip(LEARNING_METRICS, means.tolist(), strict=True))
        metrics |= {"actor_grad_norm": float(norms[0]), "critic_grad_norm": float(norms[1])}
        metrics |= {"explained_variance": explained}
        return metrics | {"learning_rate": learning_rate, "entropy_weight": entropy_weight}

    def game_metrics(self) -> dict[str, float]:
        """The game's statistics in self-play, means over seats and over the rounds that ended in this batch."""
        batches = [worker.statistics for worker in self.workers if worker.statistics]
        names = batches[0] if batches else ()
        means = {name: float(np.concatenate([b[name] for b in batches]).mean()) for name in names}
        return means | {"rounds": float(sum(len(next(iter(b.values()))) for b in batches))}

    def state(self) -> TrainingState:
        """Everything the rest of the run depends on."""
        moments = self.optimizer.state
        arrays = {"weights": self.weights.vector.numpy()}
        arrays |= {f"adam.{name}": moment.numpy() for name, moment in moments.items()}
        values: dict[str, Any] = {**asdict(self.done), "config": self.config.as_dict(), "workers": []}
        for number, worker in enumerate(self.workers):
            worker_arrays, worker_values = worker.save()
            arrays |= {f"worker{number}.{name}": array for name, array in worker_arrays.items()}
            values["workers"].append(worker_values)
        return TrainingState(arrays, values)

    def save(self) -> None:
        """Write a checkpoint. Raises ``TrainingDiverged`` for numbers that are not finite."""
        done, actor = self.done, self.weights.actor_to_play()
        try:
            save_training(self.run, done.update, actor, self.game, self.state())
        except DivergedError as error:
            raise self.diverged(done.update, error) from error

    def diverged(self, update: int, error: DivergedError) -> TrainingDiverged:
        """What to raise for numbers of ``update`` that are not finite."""
        return TrainingDiverged(self.run, update, str(error), self.config, _trusted(self.config))

    def load_latest(self) -> None:
        """Go on from the latest checkpoint of the run, if it has one. Raises ``ValueError`` when it is damaged."""
        folder = latest_checkpoint(self.run)
        if folder is None:
            return
        state = load_training(folder, self.config.as_dict(), self.state().arrays)
        try:
            policy = load_checkpoint(folder / POLICY_FILE, self.game).network
            actor = torch.cat([parameter.reshape(-1) for parameter in policy.parameters()])
            if not np.array_equal(state.arrays["weights"][self.weights.actor], actor.numpy()):
                raise ValueError(f"{POLICY_FILE} holds other weights than the actor has")
            self._restore(state, int(folder.name))
        except (OSError, ValueError) as error:
            raise damage_error(folder, error) from error

    def _restore(self, state: TrainingState, update: int) -> None:
        """Go on from ``state``, that of checkpoint ``update``. Raises ``ValueError`` for what no run comes to."""
        config, arrays, values = self.config, state.arrays, state.values
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
        steps = update * config.epochs * config.num_minibatches
        if arrays["adam.step"] != min(steps, LARGEST_STEP):
            raise ValueError(f"adam.step = {arrays['adam.step']}, expected {steps}")
        if not (arrays["adam.exp_avg_sq"] >= 0).all():
            raise ValueError("adam.exp_avg_sq holds squares under 0")
        workers = values.get("workers")
        if not isinstance(workers, list) or len(workers) != len(self.workers):
            raise ValueError(f"workers: expected the values of {len(self.workers)}")
        for number, worker in enumerate(self.workers):
            prefix = f"worker{number}."
            own = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
            try:
                worker.load(own, workers[number])
            except ValueError as error:
                raise ValueError(f"{prefix}{error}") from error
        self.weights.vector.copy_(torch.from_numpy(arrays["weights"]))
        self.weights.refresh()
        for name, moment in self.optimizer.state.items():
            moment.copy_(torch.from_numpy(arrays[f"adam.{name}"]))
        self.done = done


def _between(start: float, end: float, through: float) -> float:
    return start + (end - start) * through
