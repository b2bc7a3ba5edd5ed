"""Self-play training by PPO (Schulman et al. 2017, https://arxiv.org/abs/1707.06347), read from ``train`` down.

One network plays every seat. Worker threads play games side by side; each seat's transition runs from its own
decision to its own next one (``gae``), illegal actions do not exist for the policy (``distribution``). In learning,
each worker computes the gradient of its share of a minibatch; the shares are added up in a fixed order, and one
step of Adam moves the shared weights. So a run depends on its configuration alone, never on timing, and a resumed
run ends with the same weights, bit for bit, as one that was never stopped.

    RUN/config.yaml      every setting          RUN/checkpoints/    see checkpoint.py
    RUN/metrics.jsonl    figures by update      RUN/tensorboard/    the same:  tensorboard --logdir RUN
    RUN/results.json     the matches at the end RUN/learning.png    learning curves
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console

import catbox_agents
from catbox_agents.policy import latest_checkpoint
from catbox_env.core.game import Game
from catbox_train.checkpoint import TrainingState, load_training, save_training
from catbox_train.config import TrainConfig
from catbox_train.distribution import masked_entropy, masked_log_probabilities
from catbox_train.metrics import MetricsLog
from catbox_train.networks import ActorCritic, SharedWeights, native_precision
from catbox_train.progress import StopRequest, TrainingInterrupted, training_progress
from catbox_train.report import evaluate_policy, final_report
from catbox_train.rollout import Worker
from catbox_train.run_folder import locked, open_run, start_run

#: Sums over a batch that ``gradient`` returns, in this order.
LEARNING_FIGURES = ("policy_loss", "value_loss", "entropy", "kl", "clip_fraction")


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
    trains in it; all before anything is trained. Ctrl-C (or SIGTERM) raises
    ``TrainingInterrupted`` after saving; ``resume`` goes on from there.
    """
    game = config.make_game()
    _check_opponents(config, game)
    if config.precision == "auto":  # settled for good, so that the run goes on the same on another machine
        config = replace(config, precision=native_precision())
    return _run(config, game, Path(output), console or Console(), new=True)


def resume(output: str | os.PathLike[str], console: Console | None = None) -> dict[str, Any]:
    """Go on with the run in the folder ``output``, exactly as if it had not been stopped.

    Raises ``FileNotFoundError`` when the folder holds no run, ``ValueError`` when its checkpoint is damaged or does
    not fit ``config.yaml`` or an opponent does not exist any more, ``OSError`` when another process trains in
    the folder.
    """
    run = Path(output)
    config = open_run(run)
    game = config.make_game()
    _check_opponents(config, game)
    return _run(config, game, run, console or Console(), new=False)


def _check_opponents(config: TrainConfig, game: Game) -> None:
    for spec in config.opponents:
        catbox_agents.make(spec, game)  # refused now rather than at the first evaluation


def keep_freed_memory() -> None:
    """Let the C library keep the megabytes that every minibatch takes and frees.

    Linux's glibc hands them back to the system at once, and to fetch them anew costs about a tenth of the time.
    Other systems are left as they are.
    """
    if sys.platform == "linux" and (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)):
        trim_threshold, mmap_threshold = -1, -3  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD of malloc.h
        mallopt(trim_threshold, 1 << 30)
        mallopt(mmap_threshold, 1 << 25)  # the largest that glibc accepts


def _run(config: TrainConfig, game: Game, run: Path, console: Console, new: bool) -> dict[str, Any]:
    threads_before = torch.get_num_threads()
    torch.set_num_threads(1)  # the cores are taken by the workers
    try:
        with ThreadPoolExecutor(config.workers, initializer=partial(torch.set_num_threads, 1)) as pool:
            trainer = _allocated(config, game, run, pool)  # before anything is written
            with locked(run):
                if new:
                    start_run(run, config)
                trainer.load_latest()
                trainer.train(console)
                actor, done = trainer.weights.actor_to_play(), asdict(trainer.done)
                return final_report(config, game, run, actor, done, console)
    finally:
        torch.set_num_threads(threads_before)


def _allocated(config: TrainConfig, game: Game, run: Path, pool: ThreadPoolExecutor) -> Trainer:
    """The trainer. Raises ``ValueError`` when it does not fit into memory, for which torch has no error of its own."""
    try:
        return Trainer(config, game, run, pool)
    except (MemoryError, OverflowError, RuntimeError) as error:
        text = str(error).lower()
        if type(error) is RuntimeError and not any(word in text for word in ("alloc", "memory", "overflow")):
            raise
        raise ValueError(
            f"not enough memory for hidden = {list(config.hidden)}, batch_size = {config.batch_size}, "
            f"num_envs = {config.num_envs}, workers = {config.workers}: make one of them smaller"
        ) from error


class Trainer:
    """The parts of a run under way: the weights, the optimizer, the workers, the counters."""

    def __init__(self, config: TrainConfig, game: Game, run: Path, pool: ThreadPoolExecutor) -> None:
        keep_freed_memory()
        self.config, self.game, self.run, self.pool = config, game, run, pool
        self.weights = SharedWeights(ActorCritic(game, config))
        self.optimizer = torch.optim.Adam(
            [self.weights.vector], lr=config.learning_rate, eps=1e-5, fused=True
        )
        seeds = np.random.SeedSequence(config.seed).spawn(config.workers)
        self.workers = [Worker(game, config, self.weights, seed) for seed in seeds]
        self.done = Counters()

    def train(self, console: Console) -> None:
        """Play and learn, batch by batch, until all decisions are made."""
        config, done = self.config, self.done
        log = MetricsLog(self.run, done.update)
        with log, StopRequest() as stop, training_progress(config, done.decisions, console) as progress:
            while done.update < config.num_updates:
                began = time.perf_counter()
                through = done.update / max(1, config.num_updates - 1)
                learning_rate = _between(config.learning_rate, config.learning_rate_end, through)
                entropy_weight = _between(config.entropy, config.entropy_end, through)

                list(self.pool.map(Worker.collect, self.workers))
                figures = self.learn(learning_rate, entropy_weight)

                seconds = time.perf_counter() - began
                done.update += 1
                done.decisions += config.batch_size
                done.seconds += seconds
                row: dict[str, float] = {"update": done.update, "decisions": done.decisions}
                row |= {f"learning/{name}": value for name, value in figures.items()}
                row |= {f"game/{name}": value for name, value in self.game_figures().items()}
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
                    raise TrainingInterrupted(self.run, done.decisions)

    def evaluate(self, say: Callable[[str], None]) -> dict[str, float]:
        """Figures of the policy against the opponents."""
        return evaluate_policy(self.config, self.game, self.weights.actor_to_play(), self.done.decisions, say)

    def learn(self, learning_rate: float, entropy_weight: float) -> dict[str, float]:
        """Improve the weights on what the workers have collected; the figures of this update."""
        config, weights = self.config, self.weights
        num_minibatches = config.batch_size // config.minibatch_size
        explained = explained_variance(self.workers)
        normalise_advantages(self.workers)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        sums, norms = np.zeros(len(LEARNING_FIGURES)), np.zeros(2)
        for _ in range(config.epochs):
            shares = [worker.shuffled_minibatches(num_minibatches) for worker in self.workers]
            for minibatch in zip(*shares, strict=True):
                size = sum(len(rows) for rows in minibatch)
                work = partial(gradient, clip=config.clip, entropy_weight=entropy_weight, size=size)
                sums += sum(self.pool.map(work, self.workers, minibatch))
                total = weights.vector.grad
                assert total is not None
                total.copy_(self.workers[0].gradient)
                for worker in self.workers[1:]:
                    total += worker.gradient
                # The two share nothing, so a large error of the critic need not hold the actor back.
                norms[0] += clip_norm(total[weights.actor], config.max_grad_norm)
                norms[1] += clip_norm(total[weights.critic], config.max_grad_norm)
                self.optimizer.step()
        steps = config.epochs * num_minibatches
        figures = dict(zip(LEARNING_FIGURES, (sums / steps).tolist(), strict=True))
        figures |= {"actor_grad_norm": norms[0] / steps, "critic_grad_norm": norms[1] / steps}
        figures |= {"explained_variance": explained}
        return figures | {"learning_rate": learning_rate, "entropy_weight": entropy_weight}

    def game_figures(self) -> dict[str, float]:
        """The game's statistics in self-play, means over seats and over the rounds that ended in this batch."""
        batches = [worker.figures for worker in self.workers if worker.figures]
        names = batches[0] if batches else ()
        figures = {name: float(np.concatenate([b[name] for b in batches]).mean()) for name in names}
        return figures | {"rounds": float(sum(len(next(iter(b.values()))) for b in batches))}

    def save(self) -> None:
        """Write a checkpoint that holds everything the rest of the run depends on."""
        moments = self.optimizer.state[self.weights.vector]
        arrays = {"weights": self.weights.vector.detach().numpy()}
        arrays |= {f"adam.{name}": moment.numpy() for name, moment in moments.items()}
        values: dict[str, Any] = {**asdict(self.done), "config": self.config.as_dict(), "workers": []}
        for number, worker in enumerate(self.workers):
            worker_arrays, worker_values = worker.save()
            arrays |= {f"worker{number}.{name}": array for name, array in worker_arrays.items()}
            values["workers"].append(worker_values)
        state = TrainingState(arrays, values)
        save_training(self.run, self.done.update, self.weights.actor_to_play(), self.game, state)

    def load_latest(self) -> None:
        """Go on from the latest checkpoint of the run, if it has one."""
        folder = latest_checkpoint(self.run)
        if folder is None:
            return
        state = load_training(folder, self.config.as_dict())
        try:
            self.weights.vector.data.copy_(torch.from_numpy(state.arrays["weights"]))
            moments = {
                name.removeprefix("adam."): torch.from_numpy(array)
                for name, array in state.arrays.items()
                if name.startswith("adam.")
            }
            self.optimizer.state[self.weights.vector] = moments
            for number, worker in enumerate(self.workers):
                prefix = f"worker{number}."
                own = {k.removeprefix(prefix): v for k, v in state.arrays.items() if k.startswith(prefix)}
                worker.load(own, state.values["workers"][number])
            self.done = Counters(**{name: state.values[name] for name in asdict(self.done)})
        except (KeyError, IndexError, ValueError, RuntimeError, TypeError) as error:
            raise ValueError(
                f"checkpoint {folder} does not fit this version of the run ({error}): "
                "delete it to resume from the checkpoint before it"
            ) from error


def gradient(worker: Worker, rows: np.ndarray, clip: float, entropy_weight: float, size: int) -> np.ndarray:
    """Fill ``worker.gradient`` with its share of the gradient of the loss, a mean over a minibatch of ``size``.

    ``rows`` (n,) are the flat rows of the worker's share. Returns the share of ``LEARNING_FIGURES``.
    """

    def pick(array: np.ndarray) -> torch.Tensor:
        flat = torch.from_numpy(array).flatten(0, 1)
        return flat.index_select(0, index)

    index = torch.from_numpy(rows)
    worker.gradient.zero_()
    states = pick(worker.states) if worker.config.privileged_critic else None
    logits, values = worker.networks(pick(worker.observations), states)

    advantages = pick(worker.advantages)
    log_probabilities = masked_log_probabilities(logits, pick(worker.masks))
    log_ratio = log_probabilities.gather(1, pick(worker.actions)[:, None])[:, 0] - pick(
        worker.log_probabilities
    )
    ratio = log_ratio.exp()
    gain = torch.minimum(advantages * ratio, advantages * ratio.clamp(1 - clip, 1 + clip))
    policy_loss = -gain.sum() / size
    entropy = masked_entropy(log_probabilities).sum() / size
    value_loss = 0.5 * (values - pick(worker.returns)).square().sum() / size

    (policy_loss - entropy_weight * entropy + value_loss).backward()
    with torch.no_grad():
        kl = ((ratio - 1) - log_ratio).sum() / size  # estimator k3 of http://joschu.net/blog/kl-approx.html
        clipped = ((ratio - 1).abs() > clip).sum() / size
        return torch.stack([policy_loss, value_loss, entropy, kl, clipped]).double().numpy()


def normalise_advantages(workers: list[Worker]) -> None:
    """Bring the advantages of a batch, all workers together, to mean 0 and standard deviation 1, in place."""
    everything = np.concatenate([worker.advantages.reshape(-1)[worker.ready] for worker in workers])
    mean, deviation = everything.mean(dtype=np.float64), everything.std(dtype=np.float64)
    for worker in workers:
        worker.advantages -= np.float32(mean)
        worker.advantages /= np.float32(deviation + 1e-8)


def explained_variance(workers: list[Worker]) -> float:
    """Share of the variance of the returns that the critic's values account for; 1 is perfect, 0 is a constant."""
    returns = np.concatenate([worker.returns.reshape(-1)[worker.ready] for worker in workers])
    errors = np.concatenate([worker.advantages.reshape(-1)[worker.ready] for worker in workers])
    variance = returns.var(dtype=np.float64)
    return float(1 - errors.var(dtype=np.float64) / variance) if variance > 0 else 0.0


def clip_norm(vector: torch.Tensor, longest: float) -> float:
    """Scale ``vector`` in place to a length of at most ``longest``; the length it had."""
    norm = float(vector.norm())
    if norm > longest:
        vector *= longest / norm
    return norm


def _between(start: float, end: float, through: float) -> float:
    return start + (end - start) * through
