"""One seat of a game as a Gymnasium environment; agents play the others inside ``step``.

    import gymnasium, catbox_env
    env = gymnasium.make("catbox/CatInTheBox-v0", num_players=4, opponents="heuristic", learner_seat="random")
    envs = gymnasium.make_vec("catbox/CatInTheBox-v0", num_envs=1024, vectorization_mode="vector_entry_point")

| argument | default | meaning |
|---|---|---|
| ``opponents`` | "heuristic" | who plays the other seats, see below |
| ``learner_seat`` | 0 | the learner's seat, or "random": drawn at the start of every episode |
| ``num_threads`` | 1 | (``make_vec`` alone) threads that step the games |
| the others | | those of ``catbox_env.make_game``: ``num_players``, ``rules``, ``reward``, ... |

``opponents`` is one agent for all; a sequence of one for each other seat, clockwise from the learner; or
``{"any_of": [...]}``, from which each other seat is drawn at the start of every episode. An agent is a spec of
``catbox_agents.make`` or an object with ``act_batch``. Nobody is replaced in mid-game.

Observation: the int8 vector (O,) of the learner, laid out as ``game.observation_layout``. ``info["action_mask"]`` and
``action_masks()``: int8 (A,), zeros when the game is over. The reward of a step is everything that the learner was
paid from its decision to its next one, or to the end. An episode is one game; a game that ends before the learner's
first decision is skipped. When a round ended, ``info`` also holds its figures for the learner's seat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from catbox_agents.agent import Agent, agent_seed, check_agent, make
from catbox_env import make_game
from catbox_env.core.batch import Vec
from catbox_env.core.game import Game

Opponents = str | Agent | Sequence[str | Agent] | Mapping[str, Sequence[str | Agent]]


class Tables:
    """N games with a learner in each, and the agents that play the other seats.

    ``step`` and ``deal`` leave every game with the learner to move, or at its end. Attributes: ``vec``, the games;
    ``seats`` (N,), the learner's seat in each.
    """

    def __init__(
        self, game: Game, num_games: int, opponents: Opponents, learner_seat: int | str, num_threads: int = 1
    ) -> None:
        self.game = game
        others = game.num_players - 1
        if learner_seat != "random":
            whole = isinstance(learner_seat, int | np.integer) and not isinstance(learner_seat, bool)
            if not whole or not 0 <= int(learner_seat) < game.num_players:
                raise ValueError(
                    f"learner_seat={learner_seat!r}: expected a seat from 0 to {others}, or 'random'"
                )
        self.learner_seat = learner_seat
        self.drawn = isinstance(opponents, Mapping)
        self.specs = _specs(opponents, others)
        self.agents = self._make_agents(np.random.SeedSequence())
        history = any(getattr(agent, "needs_history", False) for agent in self.agents)
        self.vec = Vec(game, num_games, num_threads=num_threads, history=history, auto_deal=False)
        self.seats = np.zeros(num_games, np.int64)
        #: (N, P): which of ``agents`` plays a seat, -1 for the learner.
        self.players = np.full((num_games, game.num_players), -1)

    def reset(self, seed: int | None, rng: np.random.Generator) -> None:
        """New games everywhere; with a ``seed`` the deals and the agents' random numbers begin anew as well."""
        if seed is not None:
            deals, agents = np.random.SeedSequence(seed).spawn(2)
            self.agents = self._make_agents(agents)
            self.vec.reset(deals)
            self._seat(np.arange(self.vec.num_envs), rng)
            rows = self._skip_unplayed(np.arange(self.vec.num_envs))
        else:
            rows = np.arange(self.vec.num_envs)
        if len(rows):
            self.deal(rows, rng)

    def deal(self, rows: np.ndarray, rng: np.random.Generator) -> None:
        """New games in ``rows``, played on to the learner's first decision."""
        while len(rows):
            self.vec.deal(rows)
            self._seat(rows, rng)
            rows = self._skip_unplayed(rows)

    def step(self, actions: np.ndarray) -> np.ndarray:
        """The learners' ``actions`` (N,), then the others' up to the learners' next decisions; what was paid (N,).

        Raises ``ValueError``, no game moved, for an illegal action.
        """
        self.vec.step(actions)
        rows = np.arange(self.vec.num_envs)
        paid = self.vec.rewards[rows, self.seats].astype(np.float64)
        self.round_ended = self.vec.round_ended.copy()
        self._others_play(rows, paid)
        return paid

    def observation(self) -> np.ndarray:
        """What the learners see: a new (N, O) int8 array."""
        seen = self.vec.observation.copy()
        over = np.flatnonzero(self.vec.current_player < 0)
        if len(over):
            seen[over] = self.vec.observe(self.seats[over], over)
        return seen

    def figures(self, row: int) -> dict[str, int]:
        """The figures of the last finished round of a game for its learner."""
        return {name: int(values[row, self.seats[row]]) for name, values in self.vec.info.items()}

    def _make_agents(self, seed: np.random.SeedSequence) -> list[Agent]:
        children = seed.spawn(len(self.specs))
        return [
            make(spec, self.game, agent_seed(child))
            if isinstance(spec, str)
            else check_agent(spec, repr(spec))
            for spec, child in zip(self.specs, children, strict=True)
        ]

    def _seat(self, rows: np.ndarray, rng: np.random.Generator) -> None:
        players = self.game.num_players
        if self.learner_seat == "random":
            self.seats[rows] = rng.integers(players, size=len(rows))
        else:
            self.seats[rows] = int(self.learner_seat)
        for turn in range(1, players):
            if self.drawn:
                agents: Any = rng.integers(len(self.agents), size=len(rows))
            else:
                agents = (turn - 1) % len(self.agents)
            self.players[rows, (self.seats[rows] + turn) % players] = agents
        self.players[rows, self.seats[rows]] = -1

    def _skip_unplayed(self, rows: np.ndarray) -> np.ndarray:
        """Play on to the learners' first decisions; the games of ``rows`` that ended before them."""
        self._others_play(rows, np.zeros(self.vec.num_envs))
        return rows[self.vec.current_player[rows] < 0]

    def _others_play(self, rows: np.ndarray, paid: np.ndarray) -> None:
        vec = self.vec
        self.round_ended = vec.round_ended.copy()
        while True:
            to_move = vec.current_player[rows]
            rows = rows[(to_move >= 0) & (to_move != self.seats[rows])]
            if len(rows) == 0:
                return
            actions = np.empty(len(rows), np.int64)
            who = self.players[rows, vec.current_player[rows]]
            for k, agent in enumerate(self.agents):
                asked = np.flatnonzero(who == k)
                if len(asked):
                    games = rows[asked]
                    past = vec.history[games] if getattr(agent, "needs_history", False) else None
                    actions[asked] = agent.act_batch(vec.observation[games], vec.action_mask[games], past)
            vec.step(actions, rows)
            paid[rows] += vec.rewards[rows, self.seats[rows]]
            self.round_ended |= vec.round_ended


class LearnerEnv(gymnasium.Env[np.ndarray, np.int64]):
    """One game, one learner: see the module."""

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012  (Gymnasium declares it so)

    def __init__(
        self,
        game_id: str,
        opponents: Opponents = "heuristic",
        learner_seat: int | str = 0,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode={render_mode!r}: expected None or 'ansi'")
        self.render_mode = render_mode
        self.game = make_game(game_id, **options)
        self.tables = Tables(self.game, 1, opponents, learner_seat)
        self.observation_space, self.action_space = _spaces(self.game)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode: the learner's first observation, and ``{"action_mask": ...}``."""
        super().reset(seed=seed)
        self.tables.reset(seed, self.np_random)
        return self.tables.observation()[0], {"action_mask": self.action_masks()}

    def step(self, action: int | np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """The learner's ``action`` and the others' up to its next decision.

        Raises ``ValueError``, the game unchanged, for an illegal action or one after the end.
        """
        paid = self.tables.step(np.asarray(self.game.check_action_id(action))[None])
        info: dict[str, Any] = {"action_mask": self.action_masks()}
        if self.tables.round_ended[0]:
            info |= self.tables.figures(0)
        over = bool(self.tables.vec.current_player[0] < 0)
        return self.tables.observation()[0], float(paid[0]), over, False, info

    def action_masks(self) -> np.ndarray:
        """The legal actions, as sb3-contrib asks for them: a new int8 array (A,) of 0 and 1."""
        return self.tables.vec.action_mask[0].astype(np.int8)

    def render(self) -> str:
        """The table with the learner's hand."""
        return self.tables.vec.render_text(0, int(self.tables.seats[0]))


class LearnerVectorEnv(gymnasium.vector.VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """N games, a learner in each: see the module.

    A game that ends is dealt anew in the same step (``AutoresetMode.SAME_STEP``): ``infos["final_obs"]`` holds its last
    observation, ``infos["final_info"]`` the figures of its last round, both in the rows of ``infos["_final_obs"]``.
    """

    metadata = {  # noqa: RUF012  (Gymnasium declares it so)
        "render_modes": [],
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int,
        game_id: str,
        opponents: Opponents = "heuristic",
        learner_seat: int | str = 0,
        num_threads: int = 1,
        render_mode: None = None,
        **options: Any,
    ) -> None:
        if render_mode is not None:
            raise ValueError(f"render_mode={render_mode!r}: a batch is not drawn; expected None")
        self.game = make_game(game_id, **options)
        self.tables = Tables(self.game, num_envs, opponents, learner_seat, num_threads)
        self.num_envs = num_envs
        self.render_mode = None
        self.single_observation_space, self.single_action_space = _spaces(self.game)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode everywhere: (N, O) int8 observations and the masks."""
        if seed is not None and not isinstance(seed, int | np.integer):
            raise ValueError(f"seed={seed!r}: expected one integer for all games, or None")
        super().reset(seed=seed)
        self.tables.reset(seed, self.np_random)
        return self.tables.observation(), self._infos()

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """The learners' ``actions`` (N,) and the others' up to their next decisions.

        Raises ``ValueError``, no game moved, for an illegal action.
        """
        tables = self.tables
        paid = tables.step(actions)
        terminated = tables.vec.current_player < 0
        over = np.flatnonzero(terminated)
        final: dict[str, Any] = {}
        if len(over):
            last = np.full(self.num_envs, None, dtype=object)
            for row, seen in zip(over, tables.vec.observe(tables.seats[over], over), strict=True):
                last[row] = seen
            figures: dict[str, Any] = {}
            for name, values in tables.vec.info.items():
                figures[name] = np.where(terminated, values[np.arange(self.num_envs), tables.seats], 0)
                figures[f"_{name}"] = terminated.copy()
            final = {"final_obs": last, "_final_obs": terminated.copy()}
            final |= {"final_info": figures, "_final_info": terminated.copy()}
            tables.deal(over, self.np_random)
        return (
            tables.observation(),
            paid,
            terminated,
            np.zeros(self.num_envs, np.bool_),
            {**self._infos(), **final},
        )

    def action_masks(self) -> np.ndarray:
        """The legal actions: a new int8 array (N, A) of 0 and 1."""
        return self.tables.vec.action_mask.astype(np.int8)

    def _infos(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), "_action_mask": np.ones(self.num_envs, np.bool_)}


def _specs(opponents: Opponents, others: int) -> list[str | Agent]:
    """The agents that ``opponents`` names. Raises ``ValueError`` for anything but the three forms."""
    if isinstance(opponents, Mapping):
        pool = opponents.get("any_of")
        if (
            list(opponents) != ["any_of"]
            or isinstance(pool, str)
            or not isinstance(pool, Sequence)
            or not pool
        ):
            raise ValueError(f"opponents={opponents!r}: expected {{'any_of': [one agent or more]}}")
        return list(pool)
    if isinstance(opponents, str) or not isinstance(opponents, Sequence):
        return [opponents]
    if len(opponents) != others:
        raise ValueError(
            f"opponents={opponents!r}: {len(opponents)} agents for {others} other seats; give one agent for all, "
            f"one for each other seat, or {{'any_of': [...]}} to draw from"
        )
    return list(opponents)


def _spaces(game: Game) -> tuple[spaces.Box, spaces.Discrete]:
    low, high = game.observation_layout.bounds()
    return spaces.Box(low, high, dtype=np.int8), spaces.Discrete(game.num_actions)
