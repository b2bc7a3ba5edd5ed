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
``catbox_agents.make`` or an object with ``act`` and ``act_batch``. Nobody is replaced in mid-game. ``reset(seed=...)``
makes the agents of specs anew, so that their random numbers begin anew; an object goes on with its own.

Observation: the int8 vector (O,) of the learner, laid out as ``game.observation_layout``. ``info["action_mask"]`` and
``action_masks()`` (``env.get_wrapper_attr("action_masks")()`` behind Gymnasium's wrappers): int8 (A,), zeros when the
game is over. The reward of a step is everything that the learner was paid up to its next decision, or to the end; what
it was paid before its first decision comes with its first step. When a round ended, ``info`` also holds its figures
for the learner's seat.

An episode is one game. A game that ends before the learner's first decision is no episode: another is dealt, and
``tables.num_skipped`` counts it. Where that happens often (Petrify with many players on a small board: a learner in the
last seat may be petrified at once), mean rewards leave these games out; ``catbox evaluate`` counts every game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from catbox_agents.agent import Agent, agent_seed, needs_history
from catbox_agents.decisions import choose_each
from catbox_agents.specs import AgentSpec, agent_of, label_of
from catbox_env import make_game
from catbox_env.core.batch import Vec
from catbox_env.core.checks import is_integer, is_word, shown
from catbox_env.core.game import Game

Opponents = AgentSpec | Sequence[AgentSpec] | Mapping[str, Sequence[AgentSpec]]


class RenderModeError(ValueError, TypeError):
    """A ``render_mode`` that there is not. Stable-Baselines3's ``make_vec_env`` asks for "rgb_array" first, and goes on
    without it when a ``TypeError`` says no."""


class Tables:
    """N games with a learner in each, and the agents that play the other seats.

    ``step`` and ``deal`` leave every game with the learner to move, or at its end. Attributes: ``vec``, the games;
    ``seats`` (N,), the learner's seat in each; ``round_ended`` (N,), whether a round has ended since the learner's last
    decision; ``num_skipped``, the games that ended before the learner's first decision.
    """

    def __init__(
        self, game: Game, num_games: int, opponents: Opponents, learner_seat: int | str, num_threads: int = 1
    ) -> None:
        self.game = game
        others = game.num_players - 1
        if not is_word(learner_seat, "random") and (
            not is_integer(learner_seat) or not 0 <= learner_seat < game.num_players
        ):
            raise ValueError(
                f"learner_seat={shown(learner_seat)}: expected a seat from 0 to {others}, or 'random'"
            )
        self.learner_seat = learner_seat
        self.drawn = isinstance(opponents, Mapping)
        self.specs = _specs(opponents, others)
        self.labels = [label_of(spec) for spec in self.specs]
        self.agents = self._make_agents([agent_seed() for _ in self.specs])
        history = any(needs_history(agent) for agent in self.agents)
        self.vec = Vec(game, num_games, num_threads=num_threads, history=history, auto_deal=False)
        self.seats = np.zeros(num_games, np.int64)
        #: (N, P): which of ``agents`` plays a seat, -1 for the learner.
        self.players = np.full((num_games, game.num_players), -1)
        self.round_ended = np.zeros(num_games, np.bool_)
        self.num_skipped = 0
        #: (N,): paid to the learner before its first decision, and not told yet.
        self.owed = np.zeros(num_games)
        self.ready = False

    def reset(self, seed: int | None, rng: np.random.Generator) -> None:
        """New games everywhere; with a ``seed`` the deals and the agents' random numbers begin anew as well."""
        self.ready = False
        self.vec.reset(None if seed is None else np.random.SeedSequence(seed).spawn(2)[0])
        rows = np.arange(self.vec.num_envs)
        self._seat(rows, rng)
        if seed is not None:
            self.agents = self._make_agents([self._agent_seed(k) for k in range(len(self.specs))])
        self.deal(self._begin(rows), rng)

    def deal(self, rows: np.ndarray, rng: np.random.Generator) -> None:
        """New games in ``rows``, played on to the learner's first decision."""
        self.ready = False
        while len(rows):
            self.vec.deal(rows)
            self._seat(rows, rng)
            rows = self._begin(rows)
        self.ready = True

    def step(self, actions: np.ndarray) -> np.ndarray:
        """The learners' ``actions`` (N,), then the others' up to the learners' next decisions; what was paid (N,).

        Raises ``ValueError``, no game moved, for an illegal action; ``ValueError`` for an opponent that does not play
        by the rules, and from then on, as before the first ``reset``, ``ResetNeeded``.
        """
        if not self.ready:
            raise ResetNeeded(
                "call reset() before step(): no game has begun, or an opponent's error cut the last step off"
            )
        self.vec.step(actions)
        self.ready = False
        rows = np.arange(self.vec.num_envs)
        paid = self.owed + self.vec.rewards[rows, self.seats]
        self.owed[:] = 0.0
        self.round_ended[:] = self.vec.round_ended
        self._others_play(rows, paid)
        self.ready = True
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

    def _make_agents(self, seeds: Sequence[int]) -> list[Agent]:
        return [
            agent_of(spec, f"opponent {shown(spec)}", self.game, seed)
            for spec, seed in zip(self.specs, seeds, strict=True)
        ]

    def _agent_seed(self, k: int) -> int:
        """A seed for ``agents[k]`` that follows from the deals and tells it nothing of them: a hash of the first thing
        that it is shown."""
        row, seat = next(iter(np.argwhere(self.players == k)), (-1, -1))
        if row < 0:  # drawn for no seat yet
            return agent_seed(k)
        return agent_seed(k, self.vec.observe(np.array([seat]), np.array([row])).tobytes())

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

    def _begin(self, rows: np.ndarray) -> np.ndarray:
        """Play on to the learners' first decisions; the games of ``rows`` that ended before them."""
        self.owed[rows], self.round_ended[rows] = 0.0, False
        self._others_play(rows, self.owed)
        skipped = rows[self.vec.current_player[rows] < 0]
        self.num_skipped += len(skipped)
        return skipped

    def _others_play(self, rows: np.ndarray, paid: np.ndarray) -> None:
        """The others' moves in ``rows`` up to the learners' next decisions; what the learners earn is added to ``paid``
        (N,)."""
        vec = self.vec
        while True:
            to_move = vec.current_player[rows]
            rows = rows[(to_move >= 0) & (to_move != self.seats[rows])]
            if len(rows) == 0:
                return
            asked = self.players[rows, vec.current_player[rows]]
            vec.step(choose_each(self.agents, self.labels, asked, vec, rows), rows)
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
        if render_mode is not None and not is_word(render_mode, "ansi"):
            raise RenderModeError(f"render_mode={shown(render_mode)}: expected None or 'ansi'")
        self.render_mode = render_mode
        self.game = make_game(game_id, **options)
        self.tables = Tables(self.game, 1, opponents, learner_seat)
        self.observation_space, self.action_space = _spaces(self.game)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode: the learner's first observation, and ``{"action_mask": ...}``."""
        _refuse(options)
        seed = _checked_seed(seed)
        super().reset(seed=seed)
        self.tables.reset(seed, self.np_random)
        return self.tables.observation()[0], self._info()

    def step(self, action: int | np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """The learner's ``action`` and the others' up to its next decision.

        Raises ``ValueError``, the game unchanged, for an illegal action or one after the end, and ``ResetNeeded``
        before the first ``reset`` and after an opponent's error.
        """
        tables = self.tables
        chosen = self.game.check_action_id(action)
        if tables.ready and tables.vec.current_player[0] < 0:
            raise ValueError(f"action {chosen}: the game is over; call reset()")
        paid = tables.step(np.array([chosen]))
        over = bool(tables.vec.current_player[0] < 0)
        return tables.observation()[0], float(paid[0]), over, False, self._info()

    def action_masks(self) -> np.ndarray:
        """The legal actions, as sb3-contrib asks for them: a new int8 array (A,) of 0 and 1."""
        return self.tables.vec.action_mask[0].astype(np.int8)

    def render(self) -> str:
        """The table with the learner's hand."""
        return self.tables.vec.render_text(0, int(self.tables.seats[0]))

    def _info(self) -> dict[str, Any]:
        figures = self.tables.figures(0) if self.tables.round_ended[0] else {}
        return {"action_mask": self.action_masks(), **figures}


class LearnerVectorEnv(gymnasium.vector.VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """N games, a learner in each: see the module.

    A game that ends is dealt anew in the same step (``AutoresetMode.SAME_STEP``): ``infos["final_obs"]`` holds its last
    observation, ``infos["final_info"]`` its last info, both in the rows of ``infos["_final_obs"]``. Where a round ended
    and the game went on, its figures stand in ``infos`` itself, each beside its ``_name`` (N,) that tells the rows.
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
            raise RenderModeError(f"render_mode={shown(render_mode)}: a batch is not drawn; expected None")
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
        _refuse(options)
        seed = _checked_seed(seed)
        super().reset(seed=seed)
        self.tables.reset(seed, self.np_random)
        return self.tables.observation(), self._infos()

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """The learners' ``actions`` (N,) and the others' up to their next decisions.

        Raises ``ValueError``, no game moved, for an illegal action; ``ResetNeeded`` before the first ``reset`` and
        after an opponent's error.
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
            final = {"final_obs": last, "_final_obs": terminated}
            final |= {"final_info": self._infos(terminated), "_final_info": terminated}
            tables.deal(over, self.np_random)
        return (
            tables.observation(),
            paid,
            terminated.copy(),
            np.zeros(self.num_envs, np.bool_),
            {**self._infos(), **final},
        )

    def action_masks(self) -> np.ndarray:
        """The legal actions: a new int8 array (N, A) of 0 and 1."""
        return self.tables.vec.action_mask.astype(np.int8)

    def _infos(self, rows: np.ndarray | None = None) -> dict[str, Any]:
        """Gymnasium's info of a batch, in the ``rows`` (N,) bool alone where they are given."""
        tables = self.tables
        told = np.ones(self.num_envs, np.bool_) if rows is None else rows
        infos = {"action_mask": self.action_masks(), "_action_mask": told.copy()}
        ended = tables.round_ended & told
        if ended.any():
            for name, values in tables.vec.info.items():
                own = values[np.arange(self.num_envs), tables.seats].astype(np.int64)
                infos |= {name: np.where(ended, own, 0), f"_{name}": ended.copy()}
        return infos


def _refuse(options: dict[str, Any] | None) -> None:
    if options is not None and not (isinstance(options, Mapping) and not options):
        raise ValueError(
            f"options={shown(options)}: expected None, this environment has no options of reset()"
        )


def _checked_seed(seed: Any) -> int | None:
    if seed is not None and (not is_integer(seed) or seed < 0):
        raise ValueError(f"seed={shown(seed)}: expected an integer of 0 or more, one for all games, or None")
    return None if seed is None else int(seed)


def _specs(opponents: Opponents, others: int) -> list[AgentSpec]:
    """The agents that ``opponents`` names. Raises ``ValueError`` for anything but the three forms."""
    if isinstance(opponents, Mapping):
        pool = opponents.get("any_of")
        if (
            list(opponents) != ["any_of"]
            or isinstance(pool, str | bytes)
            or not isinstance(pool, Sequence)
            or not pool
        ):
            raise ValueError(f"opponents={shown(opponents)}: expected {{'any_of': [one agent or more]}}")
        return list(pool)
    if isinstance(opponents, str | bytes) or not isinstance(opponents, Sequence):
        return [opponents]
    if len(opponents) != others:
        raise ValueError(
            f"opponents={shown(opponents)}: {len(opponents)} agents for {others} other seats; give one agent for all, "
            f"one for each other seat, or {{'any_of': [...]}} to draw from"
        )
    return list(opponents)


def _spaces(game: Game) -> tuple[spaces.Box, spaces.Discrete]:
    low, high = game.observation_layout.bounds()
    return spaces.Box(low, high, dtype=np.int8), spaces.Discrete(game.num_actions)
