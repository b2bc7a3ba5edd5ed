"""MaskablePPO of sb3-contrib against its own past: four minutes on one core, then 400 deals from every seat.

pip install -e '.[sb3]'
python examples/sb3_self_play.py

The learner has a random seat of each game. Each other seat is drawn from a pool: saved models of the learner, of which
the last few are kept, and agents. ``catbox evaluate model.zip heuristic --players 3`` plays what it writes.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO

import catbox_agents
from catbox_agents.sb3 import SB3Agent, VecEnv

GAME: dict[str, Any] = {"game_id": "cat_in_the_box_v0", "reward": "margin"}
#: How many of the pool are models of the past; the others are these agents.
PAST, AGENTS = 8, ["random", "heuristic"]


def make_env(num_envs: int, num_players: int = 3) -> VecEnv:
    """The games. Until there are models, the places for them in the pool hold random agents."""
    pool = {"any_of": ["random"] * PAST + AGENTS}
    return VecEnv(
        num_envs=num_envs,
        num_players=num_players,
        opponents=pool,
        learner_seat="random",
        features=True,
        **GAME,
    )


def make_model(env: VecEnv, num_steps: int, hidden: int, seed: int) -> MaskablePPO:
    """The learner: ``num_steps`` decisions of each game make a batch."""
    return MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=num_steps,
        batch_size=min(2048, num_steps * env.num_envs),
        n_epochs=4,
        learning_rate=1e-3,
        gamma=1.0,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [hidden, hidden], "activation_fn": torch.nn.ReLU},
        device="cpu",
        seed=seed,
    )


def keep(model: MaskablePPO, env: VecEnv, number: int, folder: Path) -> None:
    """Save the learner, and let the copy play from now on, in the place of the oldest; the first one in all places."""
    path = folder / f"{number:04d}.zip"
    model.save(path)
    places = range(PAST) if number == 0 else [number % PAST]
    for place in places:
        env.games.agents[place] = SB3Agent.load(path, env.game, seed=number, greedy=False)
        env.games.labels[place] = path.name


def evaluate(model: MaskablePPO, env: VecEnv, agent: str, num_deals: int) -> catbox_agents.Standing:
    """How the learner does among others, on deals played from every seat."""
    players: list[catbox_agents.Agent | str] = [SB3Agent(model), agent]
    return catbox_agents.evaluate(env.game, players, num_deals, seed=0).standings[0]


def train(
    folder: Path,
    decisions: int = 1_000_000,
    num_envs: int = 512,
    num_steps: int = 32,
    hidden: int = 128,
    seed: int = 1,
    num_deals: int = 400,
    num_players: int = 3,
) -> dict[str, catbox_agents.Standing]:
    """Train for so many decisions of the learner, write ``model.zip``, and return how it does among other agents.

    A model is kept in ``folder`` after every batch of ``num_envs * num_steps`` decisions.
    """
    env = make_env(num_envs, num_players)
    model = make_model(env, num_steps, hidden, seed)
    keep(model, env, 0, folder)
    for number in range(1, decisions // (num_envs * num_steps) + 1):
        model.learn(num_envs * num_steps, reset_num_timesteps=False)
        keep(model, env, number, folder)
        if number % 10 == 0:
            found = evaluate(model, env, "heuristic", num_deals // 4)
            print(f"{model.num_timesteps:,} decisions: {found.margin:+.2f} among heuristics", flush=True)
    model.save(folder / "model.zip")
    return {agent: evaluate(model, env, agent, num_deals) for agent in AGENTS}


def main() -> None:
    """Train, and print how the model does."""
    parser = argparse.ArgumentParser(description="MaskablePPO against its own past")
    parser.add_argument("--decisions", type=int, default=1_000_000, help="of the learner")
    parser.add_argument("--players", type=int, default=3, help="at the table")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="for the models; a new one by default")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="sb3-self-play-"))
    folder.mkdir(parents=True, exist_ok=True)
    for agent, found in train(folder, given.decisions, seed=given.seed, num_players=given.players).items():
        margin = f"{found.margin:+.2f} ± {found.margin_ci95:.2f}"
        print(f"among {agent}: {margin} points a round more than the others")
    print(f"{folder / 'model.zip'} is an agent")


if __name__ == "__main__":
    main()
