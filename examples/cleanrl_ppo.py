"""PPO in one file, in the style of CleanRL, with torch alone: one seat, another in every game, learns among random
players. A batch of games is one vector environment of Gymnasium; only the action masks are added to the usual loop.

python examples/cleanrl_ppo.py
python examples/cleanrl_ppo.py cuda     games, network and learning on a GPU alone
"""

import sys
from typing import Any

import gymnasium
import torch
from torch import nn
from torch.distributions import Categorical

from catbox_agents import save_policy
from measure import GAME, amount, make_envs, margin, report

SIZE, NUM_STEPS, EPOCHS, MINIBATCHES = GAME.observation_layout.size, 32, 4, 8


def mlp(outputs: int) -> nn.Module:
    return nn.Sequential(
        nn.Linear(SIZE, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, outputs)
    )


def policy(actor: nn.Module, seen: torch.Tensor, mask: torch.Tensor) -> Categorical:
    return Categorical(logits=actor(seen).masked_fill(mask == 0, -1e9))


def make_gpu_envs(num_envs: int) -> gymnasium.vector.VectorEnv:
    """The games of ``make_envs`` on a GPU, from which observations, masks and rewards come as tensors."""
    return gymnasium.make_vec(
        "catbox/CatInTheBox-v0", num_envs, "vector_entry_point", device="cuda",
        num_players=3, opponents="random", learner_seat="random",
    )  # fmt: skip


def train(actor: nn.Module, envs: Any, updates: int, device: str = "cpu") -> None:
    critic = mlp(1).to(device)
    parameters = [*actor.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=1e-3, eps=1e-5)
    observation, info = envs.reset(seed=0)
    for _ in range(updates):
        rows = []
        for _ in range(NUM_STEPS):
            seen, mask = torch.as_tensor(observation).float(), torch.as_tensor(info["action_mask"])
            with torch.no_grad():
                choice, value = policy(actor, seen, mask), critic(seen)[:, 0]
            action = choice.sample()
            # Where a game ends, ``observation`` is already that of the next one: nothing follows this reward.
            observation, reward, ended, _, info = envs.step(action if device == "cuda" else action.numpy())
            paid, goes_on = torch.as_tensor(reward).float(), torch.as_tensor(~ended).float()
            rows.append((seen, mask, action, choice.log_prob(action), value, paid, goes_on))
        if device == "cuda":
            envs.check()  # raises an illegal action
        seen, mask, action, log_prob, values, paid, goes_on = map(torch.stack, zip(*rows, strict=True))
        following = critic(torch.as_tensor(observation).float())[:, 0].detach()
        advantages, advantage = torch.zeros_like(values), torch.zeros_like(following)
        for t in reversed(range(NUM_STEPS)):  # GAE with gamma 1 and lambda 0.95
            advantage = paid[t] - values[t] + goes_on[t] * (following + 0.95 * advantage)
            advantages[t], following = advantage, values[t]
        columns = (seen, mask, action, log_prob, advantages, advantages + values)
        batch = [column.flatten(0, 1) for column in columns]
        for _ in range(EPOCHS):
            for places in torch.randperm(len(batch[0]), device=device).chunk(MINIBATCHES):
                seen, mask, action, old, gain, returns = (part[places] for part in batch)
                now, gain = policy(actor, seen, mask), (gain - gain.mean()) / gain.std()
                ratio = (now.log_prob(action) - old).exp()
                loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
                loss += 0.5 * (critic(seen)[:, 0] - returns).square().mean() - 0.01 * now.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(parameters, 0.5)
                optimizer.step()


def measured(actor: nn.Module) -> float:
    return margin(lambda seen, mask: policy(actor, seen, mask).probs.argmax(1))


if __name__ == "__main__":
    device = "cuda" if "cuda" in sys.argv else "cpu"
    try:
        envs, updates = make_gpu_envs(8192) if device == "cuda" else make_envs(128), amount(40)
    except ValueError as error:  # there is no GPU
        sys.exit(f"cleanrl_ppo.py {device}: {error}")
    torch.manual_seed(0)
    before = measured(network := mlp(GAME.num_actions))
    train(network.to(device), envs, updates, device)
    report("PPO", updates * NUM_STEPS * envs.num_envs, before, measured(network.cpu()))
    linear = [
        (layer.weight.detach(), layer.bias.detach())
        for layer in network.children()
        if isinstance(layer, nn.Linear)
    ]
    # An agent for every command: catbox evaluate runs/cleanrl heuristic --players 3
    save_policy("runs/cleanrl", GAME, linear, "tanh")
