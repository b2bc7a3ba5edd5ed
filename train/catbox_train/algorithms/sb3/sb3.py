"""Self-play with MaskablePPO of sb3-contrib.

Each game has one learner, in a random seat. The player of each other seat is random too: a frozen copy of the learner,
or an agent. All learners play in one batch; so do all seats of a copy.

The model of Stable-Baselines3 is used unchanged: ``learn`` plays one batch and learns from it. It uses the global
random generators of torch and NumPy, which are seeded here for each update, and restored after it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import ClassVar

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import FloatSchedule

import catbox_agents
from catbox_agents.agent import Agent
from catbox_agents.features import facts
from catbox_agents.learner_games import LearnerGames
from catbox_agents.networks.inputs import NetworkInputs, part_sizes
from catbox_agents.networks.numpy_network import PolicyNetwork
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_agents.networks.sb3_file import sb3_network
from catbox_agents.sb3 import VecEnv
from catbox_env import Game
from catbox_env.core.rng import GENERATOR, MASK32
from catbox_train.algorithm import Algorithm, DivergedError, TrainingState
from catbox_train.algorithms.sb3.options import SB3Options, sb3_options
from catbox_train.algorithms.sb3.pool import Pool
from catbox_train.config import TrainConfig

_ACTIVATIONS = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}
#: What MaskablePPO logs -> the metric.
_METRICS = {
    "train/policy_gradient_loss": "policy_loss",
    "train/value_loss": "value_loss",
    "train/approx_kl": "approx_kl",
    "train/clip_fraction": "clip_fraction",
    "train/learning_rate": "learning_rate",
}
#: Integers up to here are exact in float32, in which torch counts the steps of Adam.
_LARGEST_STEP = 2.0**24
_GAMES, _GENERATORS, _ADAM, _POLICY, _POOL = "games.", "generators.", "adam.", "policy.", "pool."


class MaskablePPOSelfPlay(Algorithm):
    """MaskablePPO with frozen copies of itself in the other seats.

    Attributes: ``model``, the MaskablePPO; ``env``, its `VecEnv`; ``pool``, the copies; ``updates_done``.
    """

    Options: ClassVar[type[SB3Options]] = SB3Options

    def __init__(self, config: TrainConfig, game: Game) -> None:
        super().__init__(config, game)
        options = sb3_options(config)
        self.updates_done = 0
        self.specs = tuple(options.opponents_in_training)
        first, numbers = np.random.SeedSequence(config.seed).generate_state(2)
        with _random_numbers(int(numbers)):
            # Placeholders for the copies, until there are some.
            agents = [*(["random"] * options.past_policies), *self.specs]
            self.env = VecEnv(
                game.id,
                config.num_envs,
                opponents={"any_of": agents},
                learner_seat="random",
                num_threads=config.num_workers,
                features=options.features,
                **game.options,
            )
            self.features = part_sizes(NetworkInputs(game, options.features).layout)
            self.model = MaskablePPO(
                "MlpPolicy",
                self.env,
                learning_rate=options.learning_rate,
                n_steps=config.num_steps,
                batch_size=options.minibatch_size,
                n_epochs=options.epochs,
                gamma=options.gamma,
                gae_lambda=options.gae_lambda,
                clip_range=options.clip,
                ent_coef=options.entropy,
                vf_coef=options.value_weight,
                max_grad_norm=options.max_grad_norm,
                policy_kwargs={
                    "net_arch": {"pi": list(options.hidden), "vf": list(options.hidden)},
                    "activation_fn": _ACTIVATIONS[options.activation],
                },
                device="cpu",
            )
        self.model.set_logger(Logger(None, []))
        for parameter in self.model.policy.parameters():  # so that the first checkpoint has Adam's arrays
            zeros = {name: torch.zeros_like(parameter) for name in ("exp_avg", "exp_avg_sq")}
            self.model.policy.optimizer.state[parameter] = {"step": torch.zeros(()), **zeros}
        self.pool = Pool(options.past_policies, options.past_every, self.policy())
        self._seat_opponents()  # for their probabilities: `seed` remakes the agents of the specs
        self.env.seed(int(first))
        self._begin_at(self.env.reset(), np.ones(config.num_envs, np.bool_))

    @classmethod
    def memory_needed(cls, config: TrainConfig, game: Game) -> int:
        """Bytes of a batch, of which Stable-Baselines3 briefly keeps two copies, and of the networks."""
        options = sb3_options(config)
        inputs = NetworkInputs(game, options.features).size
        sizes = [inputs, *options.hidden, game.num_actions]
        weights = sum((size + 1) * after for size, after in pairwise(sizes))
        row = inputs + 4 * game.num_actions + 8 + 7 * 4
        minibatch = options.minibatch_size * 4 * (2 * inputs + 6 * sum(sizes))
        return 2 * config.batch_size * row + minibatch + 4 * weights * (8 + options.past_policies)

    def update(self, progress: float) -> dict[str, float]:
        """Play a batch and learn from it."""
        options, model = self.options, self.model
        rate = options.learning_rate + (options.learning_rate_end - options.learning_rate) * progress
        model.learning_rate, model.lr_schedule = rate, FloatSchedule(rate)
        model.ent_coef = options.entropy + (options.entropy_end - options.entropy) * progress
        self._seat_opponents()
        games = _GamesPlayed(self.env.games)
        seed = np.random.SeedSequence([self.config.seed, self.updates_done]).generate_state(1)
        try:
            with _random_numbers(int(seed[0])), _torch_threads(self.config.num_workers):
                model.learn(self.config.batch_size, games, log_interval=None, reset_num_timesteps=False)
        except (ValueError, RuntimeError) as error:  # torch's, for invalid probabilities
            self._check_finite(error)
            raise
        self._check_finite()
        self.updates_done += 1
        self.pool.end_update(self.updates_done, self.policy())
        logged = model.logger.name_to_value
        learned = {f"learning/{ours}": float(logged[name]) for name, ours in _METRICS.items()}
        learned["learning/entropy"] = -float(logged["train/entropy_loss"])
        explained = float(logged["train/explained_variance"])
        if np.isfinite(explained):  # not if all returns are equal
            learned["learning/explained_variance"] = explained
        return learned | {f"game/{name}": value for name, value in games.means().items()}

    def policy(self) -> PolicyNetwork:
        """The actor as it is now."""
        weights = {name: tensor.numpy().copy() for name, tensor in self.model.policy.state_dict().items()}
        return sb3_network(weights, self.options.activation, self.features)

    def state(self) -> TrainingState:
        """The networks, Adam's moments, the copies and the games."""
        games, policy = self.env.games, self.model.policy
        arrays = {f"{_GAMES}{name}": array for name, array in games.vec.save().items()}
        arrays |= {
            "seats": games.seats,
            "players": games.players,
            "owed": games.owed,
            "episode_starts": self.model._last_episode_starts,
        }
        arrays |= {f"{_POLICY}{name}": tensor.numpy() for name, tensor in policy.state_dict().items()}
        for name, parameter in policy.named_parameters():
            moments = policy.optimizer.state[parameter]
            arrays |= {f"{_ADAM}{name}.{kind}": moments[kind].numpy() for kind in ("exp_avg", "exp_avg_sq")}
        arrays["adam_step"] = np.array(self._adam_step(), np.float32)
        arrays |= {f"{_POOL}{name}": array for name, array in self.pool.arrays.items()}
        arrays |= {f"{_GENERATORS}{name}": games.generators[name] for name in GENERATOR.names or ()}
        return TrainingState(arrays, {"num_skipped": games.num_skipped})

    def restore(self, state: TrainingState, update: int) -> None:
        """Resume from ``state``. Raises ``ValueError`` for what no run reaches after ``update`` updates."""
        arrays, values, games, policy = state.arrays, state.values, self.env.games, self.model.policy
        if values.keys() != {"num_skipped"}:
            raise ValueError(f"expected the value num_skipped, not {values!r:.200}")
        skipped = values["num_skipped"]
        if type(skipped) is not int or skipped < 0:
            raise ValueError(f"num_skipped = {skipped!r:.40}, expected an integer of 0 or more")
        words = np.stack(list(_within(arrays, _GENERATORS).values()))
        if ((words < 0) | (words > MASK32)).any():
            raise ValueError("generators does not hold states of generators")
        step = float(arrays["adam_step"])
        steps = update * self.options.epochs * (self.config.batch_size // self.options.minibatch_size)
        if step != min(steps, _LARGEST_STEP):
            raise ValueError(f"adam_step = {step}, expected {steps}")
        if any((array < 0).any() for name, array in arrays.items() if name.endswith(".exp_avg_sq")):
            raise ValueError("exp_avg_sq of Adam holds negative squares")
        self._check_seats(arrays["seats"], arrays["players"], arrays["owed"], update)
        games.vec.load(_within(arrays, _GAMES))
        if (games.vec.current_player != arrays["seats"]).any():
            raise ValueError("seats: the learner is not to move in every game")

        games.seats[:], games.players[:], games.owed[:] = arrays["seats"], arrays["players"], arrays["owed"]
        games.num_skipped, games.ready = skipped, True
        games.round_ended[:], games.over[:] = False, False
        for name, words in _within(arrays, _GENERATORS).items():
            games.generators[name] = words
        policy.load_state_dict({k: torch.from_numpy(v) for k, v in _within(arrays, _POLICY).items()})
        for name, parameter in policy.named_parameters():
            moments = policy.optimizer.state[parameter]
            moments["step"].fill_(step)
            for kind in ("exp_avg", "exp_avg_sq"):
                moments[kind].copy_(torch.from_numpy(arrays[f"{_ADAM}{name}.{kind}"]))
        self.pool.restore(_within(arrays, _POOL))
        self.updates_done = update
        self.model.num_timesteps = update * self.config.batch_size
        self.model._n_updates = update * self.options.epochs
        self._begin_at(self.env.observation(), arrays["episode_starts"])
        self._seat_opponents()

    def _begin_at(self, observation: np.ndarray, starts: np.ndarray) -> None:
        """Let ``learn`` continue the current games: without a last observation it would reset them."""
        self.model._last_obs, self.model._last_episode_starts = observation, starts

    def _adam_step(self) -> float:
        optimizer = self.model.policy.optimizer
        return float(next(iter(optimizer.state.values()))["step"])

    def _seat_opponents(self) -> None:
        """Set the agents that play beside the learner in the next update, and their probabilities.

        They may draw random numbers, so they are made anew for each update: a resumed run uses the same.
        """
        seeds = np.random.SeedSequence([self.config.seed, self.updates_done, 1]).spawn(
            self.pool.size + len(self.specs)
        )
        copies = self.pool.networks(self.updates_done)
        games, game = self.env.games, self.game
        agents: list[Agent] = [
            PolicyAgent(copies[min(k, len(copies) - 1)], game, seeds[k], greedy=False)
            for k in range(self.pool.size)
        ]
        for spec, seed in zip(self.specs, seeds[self.pool.size :], strict=True):
            agents.append(catbox_agents.make(spec, game, int(seed.generate_state(1, np.uint64)[0])))
        games.agents[:] = agents
        games.labels[: self.pool.size] = [f"copy {k} of the learner" for k in range(self.pool.size)]
        shares = np.array([self.options.opponents_in_training[spec] for spec in self.specs])
        chances = np.zeros(len(agents))
        chances[: len(copies)] = max(0.0, 1 - shares.sum()) / len(copies)
        chances[self.pool.size :] = shares
        games.chances = chances / chances.sum()

    def _check_seats(self, seats: np.ndarray, players: np.ndarray, owed: np.ndarray, update: int) -> None:
        """Raise ``ValueError`` for seats of the learner and of others that no run reaches."""
        rows = np.arange(len(seats))
        if not ((seats >= 0) & (seats < self.game.num_players)).all():
            raise ValueError("seats holds a seat that does not exist")
        own = np.zeros(players.shape, np.bool_)
        own[rows, seats] = True
        there = (players < self.pool.count(update)) | (players >= self.pool.size)
        if (players[own] != -1).any() or not (
            (players >= 0) & (players < self.pool.size + len(self.specs)) & there
        )[~own].all():
            raise ValueError("players holds agents that do not exist, or one in the seat of the learner")
        if (np.abs(owed) > np.finfo(np.float32).max).any():
            raise ValueError("owed holds more than any game pays")

    def _check_finite(self, error: Exception | None = None) -> None:
        """Raise ``DivergedError`` if a weight, an Adam moment or an output for the current games is not finite."""
        policy = self.model.policy
        for name, parameter in policy.named_parameters():
            moments = policy.optimizer.state[parameter]
            if not all(tensor.isfinite().all() for tensor in (parameter, *moments.values())):
                raise DivergedError(f"{name}, or one of its Adam moments, is not finite") from error
        with torch.no_grad():
            actor, critic = policy.mlp_extractor(torch.from_numpy(self.env.observation()).float())
            outputs = policy.action_net(actor), policy.value_net(critic)
        if not all(output.isfinite().all() for output in outputs):
            raise DivergedError("an output of the networks is not finite") from error


class _GamesPlayed(BaseCallback):
    """What was played in one update: the learner's rewards and the statistics of its rounds."""

    def __init__(self, games: LearnerGames) -> None:
        super().__init__()
        self._of = games
        self._paid, self._games = 0.0, 0
        self._seats = games.seats.copy()
        self._statistic = next(iter(games.vec.info))
        self._rounds: list[dict[str, np.ndarray]] = []

    def _on_step(self) -> bool:
        self._paid += float(self.locals["rewards"].sum())
        self._games += int(self.locals["dones"].sum())
        # The statistics of a round that ended are still there; the learner may have another seat by now.
        if rows := [row for row, info in enumerate(self.locals["infos"]) if self._statistic in info]:
            info = {name: values[rows] for name, values in self._of.vec.info.items()}
            seats = self._seats[rows]
            found = facts(self._of.game).statistics(self._of.game, info)
            self._rounds.append({name: values[np.arange(len(rows)), seats] for name, values in found.items()})
        self._seats[:] = self._of.seats
        return True

    def means(self) -> dict[str, float]:
        """The mean reward of a game, and the means of the statistics over the rounds that ended."""
        rounds = self._rounds
        found = {"games": float(self._games)}
        if self._games:
            found["reward"] = self._paid / self._games
        for name in rounds[0] if rounds else ():
            found[name] = float(np.concatenate([values[name] for values in rounds]).mean())
        return found


def _within(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Those of ``arrays`` whose names begin with ``prefix``, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


@contextmanager
def _random_numbers(seed: int) -> Iterator[None]:
    """In the block the generators of Python, NumPy and torch start from ``seed``; after it they are restored."""
    before = random.getstate(), np.random.get_state()  # noqa: NPY002  (the one that SB3 uses)
    with torch.random.fork_rng(devices=[]):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        torch.manual_seed(seed)
        try:
            yield
        finally:
            random.setstate(before[0])
            np.random.set_state(before[1])  # noqa: NPY002


@contextmanager
def _torch_threads(number: int) -> Iterator[None]:
    """In the block torch uses ``number`` threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
