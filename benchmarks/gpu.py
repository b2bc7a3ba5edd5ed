"""Games on a GPU: random play, and actions that a network samples with torch (needs the extra ``gpu`` and a GPU)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

import catbox_env
from benchmarks.report import Clock, Metric, metric_of

GAMES: dict[str, dict[str, Any]] = {
    "cat_in_the_box_v0": {"num_players": 5},
    "cat_te_v0": {},
    "petrify_v0": {},
}
#: Decisions per second that Cat in the Box should reach on an H100.
RANDOM_PLAY, BY_POLICY = 100_000_000, 20_000_000


def measure(quick: bool) -> list[Metric]:
    """Decisions per second, observation and mask written for every one of them."""
    num_envs, num_steps, repeats = (256, 10, 2) if quick else (262_144, 200, 5)
    metrics = []
    for game_id, options in GAMES.items():
        first = game_id == "cat_in_the_box_v0"
        vec = catbox_env.make_vec(game_id, num_envs, seed=0, device="cuda", **options)
        network = policy(vec)
        runs: dict[str, tuple[Callable[[], None], int | None]] = {
            "uniformly random actions drawn by torch": (
                lambda vec=vec: by_chance(vec),
                RANDOM_PLAY if first else None,
            ),
            "sampled by a network of 2 x 256, bfloat16": (
                lambda vec=vec, network=network: by_network(vec, network),
                BY_POLICY if first else None,
            ),
        }
        for what, (step, target) in runs.items():
            found = []
            for repeat in range(repeats + 1):
                clock = Clock()
                with clock:
                    for _ in range(num_steps):
                        step()
                    vec.check()  # waits for the GPU
                if repeat:  # the first one compiles
                    found.append(num_envs * num_steps / clock.seconds)
            metrics.append(metric_of(f"{game_id}, {num_envs:,} games on a GPU, {what}", found, target=target))
    return metrics


def by_chance(vec: Any) -> None:
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
