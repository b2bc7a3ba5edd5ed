"""The games of catbox for verifiers: a model plays a seat, agents the others.

vf-eval catbox-verifiers --env.taskset.game cat_te_v0 --env.taskset.opponents best

verifiers finds this package by its name, so it is apart from catbox: ``pip install ./integrations/verifiers``.
"""

from __future__ import annotations

import asyncio
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
    opponents: str | list[str] = "heuristic"
    """As in `TextGame`."""
    table: dict[str, Any] = Field(default_factory=dict)
    """Other settings of `TextGame`: ``form``, ``retries``, ``fallback``, ``list_actions``."""
    deals: int = Field(100, ge=1)
    first_seed: int = Field(0, ge=0)
    """The seed of the first deal; the others follow."""


class CatboxData(vf.TaskData):
    """One game: what `CatboxConfig` says, the seed of the deal and the model's seat."""

    game: str
    options: dict[str, Any]
    opponents: str | list[str]
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
        TextGame(game, config.opponents, **config.table)  # refuses wrong settings before the first game
        for seed in range(config.first_seed, config.first_seed + config.deals):
            for seat in range(game.num_players):
                data = CatboxData(
                    name=f"{config.game}#{seed} in seat {seat}",
                    game=config.game,
                    options=config.options,
                    opponents=config.opponents,
                    table=config.table,
                    seed=seed,
                    seat=seat,
                )
                yield CatboxTask(data, config.task)


class CatboxEnvConfig(vf.EnvConfig):
    """The model: a plain conversation, on this machine (the default of verifiers is a remote one)."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime=vf.SubprocessConfig())


class CatboxEnv(vf.Env[CatboxEnvConfig]):
    """One game: the reward ``game`` from 0 to 1 (`TextGame.step`; 0 if the model stops before the end), and as metrics
    the ``points`` and the counts of answers."""

    async def run(self, task: CatboxTask, agents: vf.Agents) -> None:
        """Play the game of ``task``. Thinking opponents do not hold up other games."""
        data = task.data
        table = TextGame(make_game(data.game, **data.options), data.opponents, **data.table)
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
