"""Games on a GPU: random play, and actions that a network samples with torch (needs the extra ``gpu`` and a GPU)."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

import catbox_env
from benchmarks.level import seconds_to_level
from benchmarks.report import Clock, Metric, metric_of
from catbox_train.registry import algorithm_class, load_config

GAMES: dict[str, dict[str, Any]] = {
    "cat_in_the_box_v0": {"num_players": 5},
    "cat_te_v0": {},
    "petrify_v0": {},
}
#: Decisions per second that Cat in the Box should reach on an H100: random play, by a network, in training.
RANDOM_PLAY, BY_POLICY, TRAINING = 100_000_000, 20_000_000, 3_000_000


def measure(quick: bool) -> list[Metric]:
    """Decisions per second, observation and mask written for every one of them; then training with the preset ``gpu``:
    its speed, and the time until it is level with the heuristic, without compilation."""
    num_envs, num_steps, repeats = (256, 10, 2) if quick else (262_144, 200, 5)
    metrics = []
    for game_id, options in GAMES.items():
        vec: Any = catbox_env.make_vec(game_id, num_envs, seed=0, device="cuda", **options)
        network, first = policy(vec), game_id == "cat_in_the_box_v0"
        for what, step, target in (
            ("uniformly random actions drawn by torch", by_chance, RANDOM_PLAY),
            ("sampled by a network of 2 x 256, bfloat16", by_network, BY_POLICY),
        ):
            found = []
            for repeat in range(repeats + 1):
                clock = Clock()
                with clock:
                    for _ in range(num_steps):
                        step(vec, network)
                    vec.check()  # waits for the GPU
                if repeat:  # the first one compiles
                    found.append(num_envs * num_steps / clock.seconds)
            name = f"{game_id}, {num_envs:,} games on a GPU, {what}"
            metrics.append(metric_of(name, found, target=target if first else None))
    updates = 3 if quick else 10
    metrics.append(training_speed("PPO with the preset gpu, 5 players", updates, TRAINING))
    large = {"games_per_update": 65_536, "minibatch_size": 16_384}
    metrics.append(
        training_speed("the same, games_per_update 65,536, minibatch_size 16,384", updates, None, **large)
    )
    seeds = (1,) if quick else (1, 2, 3)
    taken = [seconds_to_level(5, seed, 1.0 if quick else 60.0, "gpu", "cuda", 0.5) for seed in seeds]
    metrics.append(
        metric_of(f"PPO on a GPU until level with the heuristic, 5 players, {len(seeds)} seeds", taken, "s")
    )
    return metrics


def training_speed(name: str, updates: int, target: float | None, **settings: int) -> Metric:
    """Decisions per second of playing and learning with the preset ``gpu`` and other ``settings``."""
    config = load_config("gpu", overrides=settings)
    game = config.make_game()
    config = config.resolved(game)
    algorithm = algorithm_class(config.algorithm)(config, game)
    found = []
    for update in range(2 + updates):
        clock = Clock()
        with clock:
            played, _ = algorithm.update(update, 0.0)
        if update > 1:  # the first ones compile
            found.append(played / clock.seconds)
    return metric_of(name, found, target=target)


def by_chance(vec: Any, network: nn.Module) -> None:
    """A step of uniformly random legal actions."""
    keys = torch.rand(vec.action_mask.shape, device=vec.device)
    vec.step(keys.masked_fill_(~vec.action_mask, -1).argmax(1))


@torch.no_grad()
def by_network(vec: Any, network: nn.Module) -> None:
    """A step of actions drawn from the network's policy."""
    logits = network(vec.observation.to(torch.bfloat16)).float()
    noise = -torch.empty_like(logits).exponential_().log()  # the largest sum samples the softmax
    vec.step((logits + noise).masked_fill_(~vec.action_mask, -torch.inf).argmax(1))


def policy(vec: Any) -> nn.Module:
    """A network from observations to logits."""
    torch.manual_seed(0)
    size, actions = vec.observation.shape[1], vec.action_mask.shape[1]
    layers = [nn.Linear(size, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, actions)]
    return nn.Sequential(*layers).to(vec.device, torch.bfloat16)
