"""A worker: plays the games of one thread, and writes what their seats see and do into the buffer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from catbox_agents.agent import Agent
from catbox_agents.features import facts
from catbox_agents.networks.inputs import NetworkInputs
from catbox_env import Game, Vec
from catbox_train.config import TrainConfig
from catbox_train.opponents import Tables, history_needed
from catbox_train.self_play.buffer import Buffer
from catbox_train.self_play.options import SelfPlayOptions


class Worker:
    """The games of one thread, which are the ``columns`` of ``buffer``.

    Attributes: ``number``, among all workers of the run; ``vec``, the games; ``tables``, who plays in them, or None if
    the learner has every seat; ``generator``, of the random choices in this batch; ``statistics``, those of the game
    for the learner's seats in every round that ended in the batch, name -> (n,); ``rounds``, the number of these.
    """

    def __init__(
        self,
        game: Game,
        config: TrainConfig,
        options: SelfPlayOptions,
        inputs: NetworkInputs,
        buffer: Buffer,
        number: int,
        columns: slice,
    ) -> None:
        self.config, self.inputs, self.buffer = config, inputs, buffer
        self.number, self.columns = number, columns
        self._seed = np.random.SeedSequence(config.seed).spawn(number + 1)[number]
        deals, self._choices, tables = self._seed.spawn(3)
        self.vec = Vec(
            game,
            columns.stop - columns.start,
            seed=deals,
            history=inputs.max_game_length > 0 or history_needed(options, game),
            state=buffer.states.shape[2] > 0,
        )
        self.tables = (
            Tables(options, game, self.vec.num_envs, tables) if options.opponents_in_training else None
        )
        self.generator = np.random.default_rng(self._choices)
        self.statistics: dict[str, np.ndarray] = {}
        self.rounds = 0

    def begin_batch(self, update: int, past: Sequence[Agent], chances: np.ndarray) -> None:
        """Prepare for the batch of update ``update``, counted from 0.

        The earlier policies ``past`` are opponents with ``chances`` (len(past),). Random numbers follow from the seed
        of the run and ``update``, so that no generator has to be saved between batches.
        """
        key = (*self._choices.spawn_key, update)
        self.generator = np.random.default_rng(np.random.SeedSequence(self._choices.entropy, spawn_key=key))
        if self.tables:
            self.tables.begin_update(update, chances, past)
        self._ended: list[dict[str, np.ndarray]] = []
        self._learner_in_ended: list[np.ndarray] = []

    def observe(self, row: int) -> None:
        """Write into ``row`` what the seats to move see."""
        vec, buffer, columns = self.vec, self.buffer, self.columns
        masks = buffer.masks[row, columns]
        masks[:] = vec.action_mask
        self.inputs.fill(
            vec.observation, masks, buffer.observations[row, columns], buffer.action_features[row, columns]
        )
        if self.inputs.max_game_length:
            buffer.histories[row, columns] = vec.history
        if self.buffer.states.shape[2]:
            buffer.states[row, columns] = vec.state
        buffer.seats[row, columns] = vec.current_player

    def act(self, row: int) -> None:
        """Step all games with the actions in ``row``, or those of the opponents, and write the rest of the row."""
        vec, tables, buffer, columns = self.vec, self.tables, self.buffer, self.columns
        actions = buffer.actions[row, columns]
        if tables:
            buffer.learns[row, columns] = tables.learns(vec.current_player)
            tables.choose(vec, actions)
        vec.step(actions)
        buffer.rewards[row, columns] = vec.rewards
        buffer.terminated[row, columns] = vec.terminated
        if (games := np.flatnonzero(vec.round_ended)).size:
            self._ended.append({name: array[games] for name, array in vec.info.items()})
            own = tables.line_up[games] == 0 if tables else np.ones_like(vec.rewards[games], np.bool_)
            self._learner_in_ended.append(own)
        if tables:
            tables.after_step(vec)

    def end_batch(self) -> None:
        """Fill ``statistics`` and ``rounds``."""
        ended, vec = self._ended, self.vec
        self.statistics, self.rounds = {}, 0
        if ended:
            info = {name: np.concatenate([rows[name] for rows in ended]) for name in vec.info}
            learner = np.concatenate(self._learner_in_ended)
            self.rounds = len(learner)
            self.statistics = {
                name: values[learner] for name, values in facts(vec.game).statistics(vec.game, info).items()
            }

    def save(self) -> dict[str, np.ndarray]:
        """What the worker's future depends on, besides the buffer."""
        arrays = {f"games.{name}": array for name, array in self.vec.save().items()}
        return arrays | (self.tables.save() if self.tables else {})

    def load(self, arrays: Mapping[str, np.ndarray], num_past: int) -> None:
        """Resume from what `save` returned, with ``num_past`` earlier policies in the pool.

        Takes arrays with the names, types and shapes of this worker's own. Raises ``ValueError`` for games that cannot
        be played to their end.
        """
        if self.tables:
            self.tables.load(arrays, num_past)
        prefix = "games."
        self.vec.load({k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)})
