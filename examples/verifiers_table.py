"""The games of catbox in verifiers: a model plays a seat, agents the others, every deal from every seat.

pip install "verifiers==0.4.0"
python examples/verifiers_table.py qwen3:8b http://127.0.0.1:11434/v1   # any chat-completions server

For a key, set OPENAI_API_KEY. verifiers finds a task set by the name of its module, so this is the same:
``PYTHONPATH=examples vf-eval verifiers-table --model NAME``. The model's side runs on this machine and needs ``uv``.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf
from pydantic import Field

from catbox_agents.text import TextGame
from catbox_env import make_game

__all__ = ["CatboxEnv", "CatboxTaskset"]


class CatboxConfig(vf.TasksetConfig):
    """Which games are played. Each of the ``deals`` is played from every seat: a duplicate."""

    game: str = "cat_in_the_box_v0"
    """The id of a game of ``catbox_env.GAMES``."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of ``make_game``, such as ``num_players``."""
    table: dict[str, Any] = Field(default_factory=dict)
    """Settings of `TextGame`: ``opponents``, ``form``, ``retries``, ``fallback``, ``list_actions``."""
    deals: int = Field(100, ge=1)
    first_seed: int = Field(0, ge=0)
    """The seed of the first deal; the others follow."""


class CatboxData(vf.TaskData):
    """One game: what `CatboxConfig` says, the seed of the deal and the model's seat."""

    game: str
    options: dict[str, Any]
    table: dict[str, Any]
    seed: int
    seat: int


class CatboxTask(vf.Task[CatboxData]):
    """It has no prompt: the game opens the conversation."""


class CatboxTaskset(vf.Taskset[CatboxTask, CatboxConfig]):
    """Every deal from every seat."""

    def load(self) -> Iterator[CatboxTask]:
        """The tasks. Raises ``ValueError`` for settings that the game or `TextGame` refuses."""
        config = self.config
        game = make_game(config.game, **config.options)
        TextGame(game, **config.table)  # refuses wrong settings before the first game
        played = {"game": config.game, "options": config.options, "table": config.table}
        for seed in range(config.first_seed, config.first_seed + config.deals):
            for seat in range(game.num_players):
                name = f"{config.game}#{seed} in seat {seat}"
                yield CatboxTask(CatboxData(name=name, seed=seed, seat=seat, **played), config.task)


class CatboxEnvConfig(vf.EnvConfig):
    """The model: a plain conversation, on this machine (the default of verifiers is a remote one)."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime=vf.SubprocessConfig())


class CatboxEnv(vf.Env[CatboxEnvConfig]):
    """One game: the reward ``game`` from 0 to 1 (`TextGame.step`; 0 if the model stops before the end), and as metrics
    the ``points`` and the counts of answers."""

    async def run(self, task: CatboxTask, agents: vf.Agents) -> None:
        """Play the game of ``task``. Thinking opponents do not hold up other games."""
        data = task.data
        table = TextGame(make_game(data.game, **data.options), **data.table)
        text, reward, done = await asyncio.to_thread(table.reset, data.seed, data.seat), 0.0, False
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn(text)
            while not segment.terminated:
                text, reward, done = await asyncio.to_thread(table.step, segment.last_reply)
                if done:
                    break
                segment = await interaction.turn(text)
        interaction.trace.record_reward("game", reward)
        interaction.trace.record_metrics({"finished": done, "points": table.points, **table.counts})


async def main(model: str, url: str, **taskset: Any) -> None:
    config = vf.resolve_env_config({"taskset": {"id": "verifiers-table", "deals": 1, **taskset}})
    env = vf.load_environment(config)
    client = vf.EvalClientConfig(base_url=url, api_key_var="OPENAI_API_KEY")
    context = vf.ModelContext(model=model, client=client, sampling=vf.SamplingConfig())
    async with env.serving():
        for task in env.taskset:
            episode = await env.run_episode(task, context)
            for error in episode.errors:
                print(error.message)
            for trace in episode.traces:
                played = trace.metrics
                print(
                    f"{task.data.name}: {played['points']:g} points, reward {trace.rewards['game'].score:.2f}"
                )


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
