"""One seat of a game as a Gymnasium environment; agents play the others inside ``step``.

    import gymnasium, catbox_env
    env = gymnasium.make("catbox/CatInTheBox-v0", num_players=4, opponents="heuristic", learner_seat="random")
    envs = gymnasium.make_vec("catbox/CatInTheBox-v0", num_envs=1024, vectorization_mode="vector_entry_point")

| argument | default | meaning |
|---|---|---|
| ``opponents`` | "heuristic" | who plays the other seats, see below |
| ``learner_seat`` | 0 | the learner's seat, or "random": drawn at the start of every episode |
| ``num_threads`` | 1 | (only ``make_vec``) threads that step the games |
| any other | | an option of ``catbox_env.make_game``: ``num_players``, ``rules``, ``reward``, ... |

``opponents`` is one agent for all other seats; a sequence of one for each of them, clockwise from the learner; or
``{"any_of": [...]}``, from which the agent of each other seat is drawn at the start of every episode. An agent is a
spec of ``catbox_agents.make`` or an object with ``act`` and ``act_batch``. No agent is replaced during a game.
``reset(seed=...)`` makes the agents of specs again, so that their random numbers start again; an object that you pass
continues with its own.

Observation: the int8 vector (O,) of the learner, laid out as ``game.observation_layout``. ``info["action_mask"]`` and
``action_masks()`` (``env.get_wrapper_attr("action_masks")()`` behind Gymnasium's wrappers): int8 (A,), zeros when the
game is over. The reward of a step is everything that the learner was paid up to its next decision, or to the end; what
it was paid before its first decision comes with its first step. When a round ended, ``info`` also holds the statistics
of that round for the learner's seat.

An episode is one game. A game that ends before the learner's first decision is not an episode: another is dealt, and
``games.num_skipped`` counts it. Mean rewards leave such games out, which matters where they are frequent (Petrify with
many players on a small board: a learner in the last seat may be petrified at once). ``catbox evaluate`` counts every
game.
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
from catbox_agents.decisions import ask_agents
from catbox_agents.networks.sb3_file import note_game
from catbox_agents.specs import AgentSpec, agent_of, label_of
from catbox_env import Game, Vec, make_game
from catbox_env.core.checks import is_integer, is_word, shown

Opponents = AgentSpec | Sequence[AgentSpec] | Mapping[str, Sequence[AgentSpec]]


class RenderModeError(ValueError, TypeError):
    """An unknown ``render_mode``. It is a ``TypeError`` too, because Stable-Baselines3's ``make_vec_env`` tries
    "rgb_array" first and continues without it after a ``TypeError``."""


class LearnerGames:
    """N games with one learner in each, and the agents that play the other seats.

    After ``step`` and ``deal`` the learner is to move in every game that is not over. Attributes: ``vec``, the games;
    ``seats`` (N,), the learner's seat in each; ``round_ended`` (N,), whether a round has ended since the learner's last
    decision; ``num_skipped``, how many games ended before the learner's first decision; ``agents``, which play the
    other seats, and ``labels``, their names in errors; ``chances`` (len(agents),) float64, with which
    ``{"any_of": ...}`` draws each of them, or None: all with the same. Other agents and chances may be put in between
    two steps; chances count for games that begin later.
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
        #: (N, P): the index in ``agents`` of each seat's agent, -1 for the learner.
        self.players = np.full((num_games, game.num_players), -1)
        self.round_ended = np.zeros(num_games, np.bool_)
        self.num_skipped = 0
        self.chances: np.ndarray | None = None
        #: (N,): paid to the learner before its first decision, and not yet returned by ``step``.
        self.owed = np.zeros(num_games)
        self.ready = False

    def reset(self, seed: int | None, rng: np.random.Generator) -> None:
        """Begin N new games. With a ``seed``, the deals and the agents' random numbers start again from it."""
        self.ready = False
        self.vec.reset(None if seed is None else np.random.SeedSequence(seed).spawn(2)[0])
        rows = np.arange(self.vec.num_envs)
        self._seat(rows, rng)
        if seed is not None:
            self.agents = self._make_agents([self._agent_seed(k) for k in range(len(self.specs))])
        self.deal(self._begin(rows), rng)

    def deal(self, rows: np.ndarray, rng: np.random.Generator) -> None:
        """Begin new games in ``rows`` and play them up to the learner's first decision."""
        self.ready = False
        while len(rows):
            self.vec.deal(rows)
            self._seat(rows, rng)
            rows = self._begin(rows)
        self.ready = True

    def step(self, actions: np.ndarray) -> np.ndarray:
        """Take the learners' ``actions`` (N,), then play up to their next decisions. Returns what was paid (N,).

        Raises ``ValueError``, and no game has moved, for an illegal action of a learner. Raises ``ValueError`` for an
        opponent that plays an illegal action; after that, as before the first ``reset``, ``ResetNeeded``.
        """
        if not self.ready:
            raise ResetNeeded(
                "call reset() before step(): no game has begun, or an opponent's error interrupted the last step"
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
        """The learners' observations: a new int8 array (N, O)."""
        seen = self.vec.observation.copy()
        over = np.flatnonzero(self.vec.current_player < 0)
        if len(over):
            seen[over] = self.vec.observe(self.seats[over], over)
        return seen

    def round_statistics(self, row: int) -> dict[str, int]:
        """The statistics of the last finished round of game ``row`` for its learner."""
        return {name: int(values[row, self.seats[row]]) for name, values in self.vec.info.items()}

    def _make_agents(self, seeds: Sequence[int]) -> list[Agent]:
        return [
            agent_of(spec, f"opponent {shown(spec)}", self.game, seed)
            for spec, seed in zip(self.specs, seeds, strict=True)
        ]

    def _agent_seed(self, k: int) -> int:
        """A seed for ``agents[k]`` that depends on the deals but tells nothing about them: a hash of its first
        observation."""
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
                agents: Any = self._draw(len(rows), rng)
            else:
                agents = (turn - 1) % len(self.agents)
            self.players[rows, (self.seats[rows] + turn) % players] = agents
        self.players[rows, self.seats[rows]] = -1

    def _draw(self, number: int, rng: np.random.Generator) -> np.ndarray:
        if self.chances is None:
            return rng.integers(len(self.agents), size=number)
        return rng.choice(len(self.agents), size=number, p=self.chances)

    def _begin(self, rows: np.ndarray) -> np.ndarray:
        """Play ``rows`` up to the learners' first decisions. Returns the games that ended before them."""
        self.owed[rows], self.round_ended[rows] = 0.0, False
        self._others_play(rows, self.owed)
        skipped = rows[self.vec.current_player[rows] < 0]
        self.num_skipped += len(skipped)
        return skipped

    def _others_play(self, rows: np.ndarray, paid: np.ndarray) -> None:
        """Play the others' moves in ``rows`` up to the learners' next decisions, and add what the learners are paid to
        ``paid`` (N,)."""
        vec = self.vec
        while True:
            to_move = vec.current_player[rows]
            rows = rows[(to_move >= 0) & (to_move != self.seats[rows])]
            if len(rows) == 0:
                return
            asked = self.players[rows, vec.current_player[rows]]
            vec.step(ask_agents(self.agents, self.labels, asked, vec, rows), rows)
            paid[rows] += vec.rewards[rows, self.seats[rows]]
            self.round_ended |= vec.round_ended


class LearnerEnv(gymnasium.Env[np.ndarray, np.int64]):
    """One game with one learner; the module's docstring is its specification."""

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
        self.games = LearnerGames(self.game, 1, opponents, learner_seat)
        self.observation_space, self.action_space = _spaces(self.game)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode. Returns the learner's first observation and ``{"action_mask": ...}``."""
        _refuse(options)
        seed = _checked_seed(seed)
        super().reset(seed=seed)
        self.games.reset(seed, self.np_random)
        return self.games.observation()[0], self._info()

    def step(self, action: int | np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take the learner's ``action``, then play the others' up to its next decision.

        Raises ``ValueError``, and the game is unchanged, for an illegal action or one after the end, and
        ``ResetNeeded`` before the first ``reset`` and after an opponent's error.
        """
        games = self.games
        chosen = self.game.check_action_id(action)
        if games.ready and games.vec.current_player[0] < 0:
            raise ValueError(f"action {chosen}: the game is over; call reset()")
        paid = games.step(np.array([chosen]))
        over = bool(games.vec.current_player[0] < 0)
        return games.observation()[0], float(paid[0]), over, False, self._info()

    def action_masks(self) -> np.ndarray:
        """The legal actions, under the name that sb3-contrib calls: a new int8 array (A,) of 0 and 1."""
        return self.games.vec.action_mask[0].astype(np.int8)

    def render(self) -> str:
        """The game as text, with the learner's hand."""
        return self.games.vec.render_text(0, int(self.games.seats[0]))

    def _info(self) -> dict[str, Any]:
        statistics = self.games.round_statistics(0) if self.games.round_ended[0] else {}
        return {"action_mask": self.action_masks(), **statistics}


class LearnerVectorEnv(gymnasium.vector.VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """N games with one learner in each; the module's docstring is the specification.

    After the end of a game the next one is dealt in the same step (``AutoresetMode.SAME_STEP``):
    ``infos["final_obs"]`` holds the last observation and ``infos["final_info"]`` the last info, both in the rows of
    ``infos["_final_obs"]``. Where a round ended and the game goes on, the statistics of the round are in ``infos``
    itself, each with a mask ``_name`` (N,) of its rows.
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
            raise RenderModeError(f"render_mode={shown(render_mode)}: a batch cannot be drawn; expected None")
        self.game = make_game(game_id, **options)
        self.games = LearnerGames(self.game, num_envs, opponents, learner_seat, num_threads)
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
        """Begin an episode in every game. Returns the observations (N, O) int8 and the masks."""
        _refuse(options)
        seed = _checked_seed(seed)
        super().reset(seed=seed)
        self.games.reset(seed, self.np_random)
        return self.games.observation(), self._infos()

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Take the learners' ``actions`` (N,), then play the others' up to the learners' next decisions.

        Raises ``ValueError``, and no game has moved, for an illegal action; ``ResetNeeded`` before the first ``reset``
        and after an opponent's error.
        """
        games = self.games
        paid = games.step(actions)
        terminated = games.vec.current_player < 0
        over = np.flatnonzero(terminated)
        final: dict[str, Any] = {}
        if len(over):
            last = np.full(self.num_envs, None, dtype=object)
            for row, seen in zip(over, games.vec.observe(games.seats[over], over), strict=True):
                last[row] = seen
            final = {"final_obs": last, "_final_obs": terminated}
            final |= {"final_info": self._infos(terminated), "_final_info": terminated}
            games.deal(over, self.np_random)
        return (
            games.observation(),
            paid,
            terminated.copy(),
            np.zeros(self.num_envs, np.bool_),
            {**self._infos(), **final},
        )

    def action_masks(self) -> np.ndarray:
        """The legal actions: a new int8 array (N, A) of 0 and 1."""
        return self.games.vec.action_mask.astype(np.int8)

    def _infos(self, rows: np.ndarray | None = None) -> dict[str, Any]:
        """Gymnasium's info of a batch; with ``rows`` (N,) bool given, of these rows only."""
        games = self.games
        shown_rows = np.ones(self.num_envs, np.bool_) if rows is None else rows
        infos = {"action_mask": self.action_masks(), "_action_mask": shown_rows.copy()}
        ended = games.round_ended & shown_rows
        if ended.any():
            for name, values in games.vec.info.items():
                own = values[np.arange(self.num_envs), games.seats].astype(np.int64)
                infos |= {name: np.where(ended, own, 0), f"_{name}": ended.copy()}
        return infos


def _refuse(options: dict[str, Any] | None) -> None:
    if options is not None and not (isinstance(options, Mapping) and not options):
        raise ValueError(
            f"options={shown(options)}: expected None; reset() of this environment has no options"
        )


def _checked_seed(seed: Any) -> int | None:
    if seed is not None and (not is_integer(seed) or seed < 0):
        raise ValueError(f"seed={shown(seed)}: expected one integer of 0 or more for all games, or None")
    return None if seed is None else int(seed)


def _specs(opponents: Opponents, others: int) -> list[AgentSpec]:
    """The agents that ``opponents`` names, as a list. Raises ``ValueError`` for anything but its three forms."""
    if isinstance(opponents, Mapping):
        pool = opponents.get("any_of")
        if (
            list(opponents) != ["any_of"]
            or isinstance(pool, str | bytes)
            or not isinstance(pool, Sequence)
            or not pool
        ):
            raise ValueError(f"opponents={shown(opponents)}: expected {{'any_of': [one or more agents]}}")
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
    observations = spaces.Box(low, high, dtype=np.int8)
    note_game(observations, game)
    return observations, spaces.Discrete(game.num_actions)
