"""Ways into a game of several seats that are known from tutorials and toolkits, as they give transitions to a learner.

Each takes a PettingZoo environment, usually a `Ledger`, plays whole games with random legal actions and yields what a
learner is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from catbox_agents.transitions import seat_transitions
from tests.conservation import Received

Way = Callable[[Any, int, int], Iterator[Received]]


def transitions_of_catbox(env: Any, games: int, seed: int) -> Iterator[Received]:
    """`catbox_agents.transitions.seat_transitions`."""
    for step in seat_transitions(env, "random", games=games, seed=seed):
        yield Received(step.seat, step.reward, step.next_own_observation)


def pairs_of_step_and_last(env: Any, games: int, seed: int) -> Iterator[Received]:
    """As the wrapper in PettingZoo's tutorial for Stable-Baselines3: ``reset`` returns what the first seat sees,
    ``step`` steps and returns ``last()``; the episode ends with the first ``terminated``."""
    rng = np.random.default_rng(seed)
    for game in range(games):
        env.reset(seed=seed if game == 0 else None)
        over = False
        while not over:
            seat, mask = env.agent_selection, env.observe(env.agent_selection)["action_mask"]
            if not mask.any():
                break  # the game was over when it was dealt
            env.step(int(rng.choice(np.flatnonzero(mask))))
            seen, reward, terminated, truncated, _ = env.last()
            over = terminated or truncated
            yield Received(seat, reward, seen["observation"])


def _parallel(env: Any, games: int, seed: int, own_rows: bool) -> Iterator[Received]:
    from pettingzoo.utils import turn_based_aec_to_parallel

    rng = np.random.default_rng(seed)
    parallel = turn_based_aec_to_parallel(env)
    for game in range(games):
        parallel.reset(seed=seed if game == 0 else None)
        while parallel.agents:
            mover = env.agent_selection
            action = int(rng.choice(np.flatnonzero(env.observe(mover)["action_mask"])))
            seen, rewards, _, _, _ = parallel.step(dict.fromkeys(parallel.agents, action))
            for seat, reward in rewards.items():
                if seat == mover or not own_rows:
                    yield Received(seat, reward, seen[seat]["observation"])


def parallel_own_rows(env: Any, games: int, seed: int) -> Iterator[Received]:
    """PettingZoo's ``turn_based_aec_to_parallel``; of each step, the row of the seat whose action was taken."""
    return _parallel(env, games, seed, own_rows=True)


def parallel_all_rows(env: Any, games: int, seed: int) -> Iterator[Received]:
    """The same with the rows of all seats, as SuperSuit makes them, whose actions were not asked for."""
    return _parallel(env, games, seed, own_rows=False)


def tianshou_pettingzoo(env: Any, games: int, seed: int) -> Iterator[Received]:
    """Tianshou's ``PettingZooEnv``: what its collector stores and its dispatcher gives to each seat's algorithm."""
    from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
    from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.env import DummyVectorEnv, PettingZooEnv

    np.random.seed(seed)  # noqa: NPY002  (Tianshou draws from it)
    wrapped = PettingZooEnv(env)
    space = wrapped.action_space
    algorithms = [MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=space) for _ in wrapped.agents]
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=algorithms, env=wrapped)
    envs = DummyVectorEnv([lambda: wrapped])
    envs.seed(seed)
    buffer = VectorReplayBuffer(1000 * games, 1)
    Collector(algorithm, envs, buffer).collect(n_episode=games, reset_before_collect=True)
    rows, indices = buffer.sample(0)  # all, in order
    for seat, own in algorithm._preprocess_batch(rows, buffer, indices).items():
        for row in own:
            yield Received(seat, row.rew, row.obs_next.obs)


def _torchrl(env: Any, games: int, seed: int, own_rows: bool) -> Iterator[Received]:
    import torch
    from torchrl.envs import PettingZooWrapper

    torch.manual_seed(seed)
    seats = list(env.possible_agents)
    wrapped = PettingZooWrapper(env, use_mask=True, group_map={"seats": seats}, seed=seed)
    for _ in range(games):
        rows = wrapped.rollout(10_000)
        for row in rows:
            for place, seat in enumerate(seats):
                if row["seats", "mask"][place] or not own_rows:
                    following = row["next", "seats", "observation", "observation"][place]
                    yield Received(seat, row["next", "seats", "reward"][place].item(), following.numpy())


def torchrl_own_rows(env: Any, games: int, seed: int) -> Iterator[Received]:
    """TorchRL's ``PettingZooWrapper(use_mask=True)``: of each step, the row that ``mask`` marks."""
    return _torchrl(env, games, seed, own_rows=True)


def torchrl_all_rows(env: Any, games: int, seed: int) -> Iterator[Received]:
    """The same with the rows of all seats."""
    return _torchrl(env, games, seed, own_rows=False)


#: What needs no toolkit, and by toolkit what needs it.
WAYS: dict[str, list[Way]] = {
    "pettingzoo": [transitions_of_catbox, pairs_of_step_and_last, parallel_own_rows, parallel_all_rows],
    "tianshou": [tianshou_pettingzoo],
    "torchrl": [torchrl_own_rows, torchrl_all_rows],
}
