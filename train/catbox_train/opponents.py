"""Opponents in training: which seats of a game the learner has, and who has the others.

At most tables the learner has every seat. At a given share of them it plays with one opponent: an agent, or an earlier
policy of the run. Earlier policies are kept in a pool, and those that beat the learner more often are chosen more
often: prioritised fictitious self-play (Vinyals et al. 2019, https://doi.org/10.1038/s41586-019-1724-z).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

import catbox_agents
from catbox_agents.agent import Agent, needs_history
from catbox_agents.play import ask_agents
from catbox_agents.specs import BUILT_IN
from catbox_env import Game, Vec
from catbox_train.algorithm import AlgorithmOptions
from catbox_train.settings import MAX_COUNT, Integer, Shares

if TYPE_CHECKING:
    from catbox_train.config import TrainConfig

#: In ``opponents_in_training``: the earlier policies of the run.
PAST = "past"
#: Largest number of earlier policies to keep.
MAX_POOL = 64
#: Rounding in the sum of shares such as 0.1, 0.2, 0.7.
_ROUNDING = 1e-9
#: Factor by which older games count less with each update.
DECAY = 0.95
#: Exponent of the share of games not won by the learner, in the weight of an earlier policy.
PRIORITY = 2
#: Tables with earlier policies per policy drawn in an update: small batches of decisions are slow.
TABLES_EACH = 64


class OpponentOptions(AlgorithmOptions):
    """Who plays in training besides the learner."""

    agent_settings: ClassVar[Mapping[str, tuple[str, ...]]] = {"opponents_in_training": (PAST,)}

    opponents_in_training: Shares = Field(
        {},
        description="opponent -> share of the tables at which it plays, such as {heuristic: 0.1, past: 0.2}; past: "
        "earlier policies of the run, otherwise an agent as in opponents",
    )
    past_policies: Integer = Field(
        8, ge=1, le=MAX_POOL, description="earlier policies to keep as opponents (past)"
    )
    past_every: Integer = Field(
        25, ge=1, le=MAX_COUNT, description="updates between policies kept as opponents"
    )

    learner_seats: Integer = Field(
        0,
        ge=0,
        le=MAX_COUNT,
        description="seats of the learner at a table with an opponent; 0: 1 to P - 1, drawn for each game",
    )

    def check(self, config: TrainConfig) -> list[str]:
        """The shares must not exceed 1 in total, and every shared table needs a seat for the opponent."""
        if self.learner_seats and self.learner_seats >= (seats := config.make_game().num_players):
            return [
                f"learner_seats = {self.learner_seats}: expected 0 or 1 to {seats - 1} of the {seats} seats of a table"
            ]
        return wrong_shares(self.opponents_in_training)

    def opponent_agents(self) -> tuple[str, ...]:
        """The agents among the opponents."""
        return self.agents_by_setting()["opponents_in_training"]

    def pool_size(self) -> int:
        """The most earlier policies that are kept."""
        return self.past_policies if PAST in self.opponents_in_training else 0


def wrong_shares(opponents_in_training: Mapping[str, float]) -> list[str]:
    """A sentence if the shares add up to more than 1."""
    total = sum(opponents_in_training.values())
    if total <= 1 + _ROUNDING:
        return []
    return [
        f"opponents_in_training = {opponents_in_training}: expected shares that add up to at most 1, not {total:g}"
    ]


def history_needed(options: OpponentOptions, game: Game) -> bool:
    """Whether an agent among the opponents needs the history of its seat."""
    return any(needs_history(catbox_agents.make(spec, game)) for spec in options.opponent_agents())


class Pool:
    """Earlier policies, as flat vectors, and the learner's results against them.

    Attributes: ``vectors`` (K, W) float32, of which the first ``count`` are filled; ``wins`` and ``games`` (K,)
    float64 against each, those of earlier updates counting less.
    """

    def __init__(self, options: OpponentOptions, vectors: NDArray[np.float32]) -> None:
        size = options.pool_size()
        self.every = options.past_every
        self.count = 0
        self.vectors = vectors
        self.wins, self.games = np.zeros(size), np.zeros(size)

    def not_beaten(self) -> NDArray[np.float64]:
        """The share (count,) of games that the learner does not win against each policy, with add-one smoothing."""
        games = self.games[: self.count]
        return (games - self.wins[: self.count] + 1) / (games + 2)

    def chances(self) -> NDArray[np.float64]:
        """The probability (count,) of each policy to be the opponent at a table with an earlier policy."""
        weights = self.not_beaten() ** PRIORITY
        return weights / weights.sum()

    def end_update(
        self, update: int, tallies: Sequence[NDArray[np.float64]], vector: NDArray[np.float32]
    ) -> bool:
        """Add the games of an update, (K, 2) wins and games, and every ``every`` updates the current policy ``vector``
        (W,); returns whether it was added.

        If the pool is full, it replaces the policy that the learner beats most often, also in unfinished games.
        """
        if not len(self.vectors):
            return False
        wins, games = sum(tallies, np.zeros((len(self.vectors), 2))).T
        self.wins, self.games = DECAY * self.wins + wins, DECAY * self.games + games
        if update % self.every:
            return False
        slot = self.count if self.count < len(self.vectors) else int(self.not_beaten().argmin())
        self.count = max(self.count, slot + 1)
        self.vectors[slot] = vector
        self.wins[slot] = self.games[slot] = 0
        return True

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Arrays, and values that JSON can hold."""
        return {"vectors": self.vectors, "wins": self.wins, "games": self.games}, {"count": self.count}

    def restore(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any], update: int) -> None:
        """Resume from ``state``. Raises ``ValueError`` for what no run reaches after ``update`` updates."""
        if values.keys() != {"count"}:
            raise ValueError(f"expected the value count, not {dict(values)!r:.200}")
        count = values["count"]
        expected = min(update // self.every, len(self.vectors))
        if type(count) is not int or count != expected:
            raise ValueError(f"count = {count!r:.40}, expected {expected}")
        wins, games = arrays["wins"], arrays["games"]
        possible = (wins >= 0) & (wins <= games) & (games <= MAX_COUNT)
        if not possible.all() or games[count:].any():
            raise ValueError("wins or games are numbers that no pool reaches")
        self.count, self.wins, self.games = count, wins.copy(), games.copy()
        self.vectors[:] = arrays["vectors"]


class Tables:
    """Who has which seat in the games of one worker.

    Attributes: ``line_up`` (N, P) int16: 0 the learner, k > 0 the k-th of the agents, then of the pool; ``paid`` (N, P)
    float64: what each seat was paid so far in the game; ``tally`` (agents + pool, 2) float64: games of this update that
    the learner won against each opponent (a tie is half a win), and all of them.
    """

    def __init__(
        self, options: OpponentOptions, game: Game, num_games: int, seed: np.random.SeedSequence
    ) -> None:
        self.specs = options.opponent_agents()
        shares = options.opponents_in_training
        self._bounds = np.cumsum([shares[spec] for spec in self.specs] + [shares.get(PAST, 0.0)])
        self.game, self._seed = game, seed
        self._learner_seats = options.learner_seats
        self.num_opponents = len(self.specs) + options.pool_size()
        num_past_tables = int(shares.get(PAST, 0.0) * num_games)
        self._drawn_at_once = min(max(1, num_past_tables // TABLES_EACH), MAX_POOL)
        self.line_up = np.zeros((num_games, game.num_players), np.int16)
        self.paid = np.zeros((num_games, game.num_players))
        self.tally = np.zeros((self.num_opponents, 2))
        self.agents: list[Agent] = []
        self._drawn = np.zeros(0, np.int64)
        self.seated = False

    def begin_update(self, update: int, chances: NDArray[np.float64], past: Sequence[Agent]) -> None:
        """Prepare for an update with the earlier policies ``past`` and their ``chances``.

        A few of these are drawn, and play in the games that begin in this update. Random numbers follow from the seed
        and ``update``, and agents that may draw some are made anew, so that a resumed run continues exactly.
        """
        own = np.random.SeedSequence(self._seed.entropy, spawn_key=(*self._seed.spawn_key, update))
        self.generator = np.random.default_rng(own)
        seeds = own.generate_state(max(1, len(self.specs)))
        kept = dict(zip(self.specs, self.agents, strict=False))
        self.agents = [
            kept[spec]
            if spec in kept and spec not in BUILT_IN and (spec == "heuristic" or os.path.exists(spec))
            else catbox_agents.make(spec, self.game, int(seed))
            for spec, seed in zip(self.specs, seeds, strict=False)
        ] + list(past)
        self._labels = [*self.specs, *(f"{PAST} policy {k}" for k in range(len(past)))]
        self._drawn = np.zeros(0, np.int64)
        if len(past):
            self._drawn = self.generator.choice(len(past), size=self._drawn_at_once, p=chances)
        self.tally[:] = 0
        if not self.seated:
            self.seat(np.arange(len(self.line_up)))
            self.seated = True

    def seat(self, games: NDArray[np.int64]) -> None:
        """Draw who plays in the new ``games``."""
        self.line_up[games] = 0
        self.paid[games] = 0
        kind = np.searchsorted(self._bounds, self.generator.random(len(games)), side="right")
        opponent = kind + 1
        past = kind == len(self.specs)
        if len(self._drawn):
            drawn = self.generator.choice(self._drawn, size=len(games))
            opponent = np.where(past, len(self.specs) + 1 + drawn, opponent)
            shared = kind <= len(self.specs)
        else:  # the pool is empty
            shared = kind < len(self.specs)
        num_players = self.line_up.shape[1]
        own_seats = self.generator.integers(1, num_players, len(games))
        if self._learner_seats:
            own_seats[:] = self._learner_seats
        place = self.generator.random((len(games), num_players)).argsort(axis=1)
        others = (place >= own_seats[:, None]) & shared[:, None]
        self.line_up[games] = np.where(others, opponent[:, None], 0)

    def learns(self, seats: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Whether the learner has the seat to move (N,) in each game."""
        return self.line_up[np.arange(len(seats)), seats] == 0

    def choose(self, vec: Vec, actions: NDArray[np.int64]) -> None:
        """Replace the ``actions`` (N,) of the opponents' seats by theirs."""
        player = self.line_up[np.arange(len(actions)), vec.current_player]
        rows = np.flatnonzero(player)
        if len(rows):
            actions[rows] = ask_agents(self.agents, self._labels, player[rows] - 1, vec, rows)

    def after_step(self, vec: Vec) -> None:
        """Count what the step paid, and seat the players of new games."""
        self.paid += vec.rewards
        ended = np.flatnonzero(vec.terminated)
        if not len(ended):
            return
        line_up, paid = self.line_up[ended], self.paid[ended]
        shared = (line_up > 0).any(axis=1)
        line_up, paid = line_up[shared], paid[shared]
        own = line_up == 0
        own_mean = (paid * own).sum(axis=1) / own.sum(axis=1)
        other_mean = (paid * ~own).sum(axis=1) / (~own).sum(axis=1)
        won = np.where(own_mean == other_mean, 0.5, own_mean > other_mean)
        opponent = line_up.max(axis=1) - 1
        np.add.at(self.tally, (opponent, 0), won)
        np.add.at(self.tally, (opponent, 1), 1)
        self.seat(ended)

    def save(self) -> dict[str, np.ndarray]:
        """What the tables of the next update depend on, besides its seed."""
        return {"tables.line_up": self.line_up, "tables.paid": self.paid}

    def load(self, arrays: Mapping[str, np.ndarray], num_past: int) -> None:
        """Resume from what `save` returned, with ``num_past`` policies in the pool.

        Raises ``ValueError`` for opponents that do not exist.
        """
        line_up = arrays["tables.line_up"]
        if not ((line_up >= 0) & (line_up <= len(self.specs) + num_past)).all():
            raise ValueError("tables.line_up holds opponents that do not exist")
        self.line_up[:], self.paid[:] = line_up, arrays["tables.paid"]
        self.seated = True
