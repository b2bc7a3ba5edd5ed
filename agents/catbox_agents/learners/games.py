"""Games with one learner in each, and the agents that play the other seats: the basis of the other files here.

Each game has its own generator, for the learner's seat, the agents of the other seats, the random numbers of agents
with ``seed_decisions``, and the replacements of illegal actions. So game i of a batch plays like a single game with the
same seed, whatever the other games do. Other agents draw numbers of their own, for all games together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from numpy.random import SeedSequence
from numpy.typing import NDArray

from catbox_agents.agent import Agent, RandomAgent, needs_history
from catbox_agents.play import ask_agents
from catbox_agents.specs import AgentSpec, agent_of, label_of
from catbox_env import Game, Vec
from catbox_env.core.bits import legal_at
from catbox_env.core.checks import as_array, check_choice, check_integer, is_integer, is_literal, short_repr
from catbox_env.core.compilation import cached_njit
from catbox_env.core.loops import Loops
from catbox_env.core.rng import new_generators, next_uint64, random_below, unit_interval

Opponents = AgentSpec | Sequence[AgentSpec] | Mapping[str, Sequence[AgentSpec]]

#: What happens on an illegal action.
RAISE, TERMINATE, RANDOM_LEGAL = ILLEGAL_ACTIONS = ("raise", "terminate", "random_legal")


class LearnerGames:
    """N games with one learner in each, and the agents that play the other seats.

    After ``reset`` and ``step`` the learner is to move in every game that is not over. The games keep their actions
    with ``history``, or if an agent needs them.

    Attributes:
        vec: the games.
        generators: (N,) records of `core.rng`, one for each game: for everything random in it except the deals.
        agents, labels: those that ``players`` names, and their names; a caller may replace them between two steps.
        seats: (N,) int64, the learner's seat in each.
        players: (N, P) int64, the index in ``agents`` of each seat's agent, -1 for the learner.
        over: (N,) bool, whether the episode is over.
        round_ended: (N,) bool, whether a round has ended since the learner's last decision.
        illegal: (N,) int64, the illegal action of the last step; -1 where there was none.
        owed: (N,) float64, paid to the learner before its first decision and not yet returned by ``step``.
        skipped: (N,) int64, how many games ended before the learner's first decision and were redealt since the last
            ``step``.
        skipped_reward: (N,) float64, what these games paid the learner.
        num_skipped: the number of such games since the batch was made.
        illegal_reward: what ``illegal_action="terminate"`` pays for an illegal action.
    """

    def __init__(
        self,
        game: Game,
        num_games: int,
        opponents: Opponents,
        learner_seat: int | str,
        num_threads: int = 1,
        illegal_action: str = RAISE,
        history: bool = False,
    ) -> None:
        self.game = game
        others = game.num_players - 1
        if not is_literal(learner_seat, "random"):
            check_integer("learner_seat", learner_seat, 0, others, ", or 'random'")
        self.learner_seat = learner_seat
        self.illegal_action = check_choice("illegal_action", illegal_action, ILLEGAL_ACTIONS)
        self.illegal_reward = min(-1.0, float(game.min_utility))
        self.drawn = isinstance(opponents, Mapping)
        self.specs = _specs(opponents, others)
        self.labels = [label_of(spec) for spec in self.specs]
        self.agents = [self._made(k, SeedSequence()) for k in range(len(self.specs))]
        history = history or any(needs_history(agent) for agent in self.agents)
        self.vec = Vec(game, num_games, num_threads=num_threads, history=history, auto_deal=False)
        self._all = np.arange(num_games)
        self.generators = new_generators([SeedSequence() for _ in self._all])
        self.seats = np.zeros(num_games, np.int64)
        self.players = np.full((num_games, game.num_players), -1)
        self.over = np.zeros(num_games, np.bool_)
        self.round_ended = np.zeros(num_games, np.bool_)
        self.illegal = np.full(num_games, -1)
        self.owed = np.zeros(num_games)
        self.skipped = np.zeros(num_games, np.int64)
        self.skipped_reward = np.zeros(num_games)
        self.num_skipped = 0
        self.ready = False

    def reset(
        self, seed: int | Sequence[int | None] | None = None, rows: NDArray[np.int64] | None = None
    ) -> None:
        """Begin new games in ``rows`` (M,), all by default, and play them up to the learner's first decision.

        ``seed``: an integer of 0 or more, from which each game gets its own; or N of them, one for each game, which
        then plays like a single game with this seed; ``None``, for all or one of N, continues with the generators. If
        every game begins with a seed, agents of specs that draw numbers of their own are made again. Raises
        ``ValueError`` for another seed, and ``ResetNeeded`` for ``rows`` before the first ``reset`` of all games and
        after an opponent's error.
        """
        if rows is None:
            rows = self._all
        else:
            self._check_ready()
        deals, draws = self._seeds(seed, rows)
        self.ready = False
        seeded = {k: one for k, one in enumerate(draws) if one is not None}
        if seeded:
            self.generators[rows[list(seeded)]] = new_generators(list(seeded.values()))
        self.vec.deal(rows, deals)
        self._seat(rows)
        if len(seeded) == self.vec.num_envs:
            for k, agent in enumerate(self.agents):
                if not hasattr(agent, "seed_decisions"):
                    self.agents[k] = self._made(k, seeded[0])
        self._play_to_first_decisions(rows)
        self.ready = True

    def step(self, actions: NDArray[np.integer]) -> NDArray[np.float64]:
        """Play the learners' ``actions`` (N,), then the others' up to the learners' next decisions.

        Returns what was paid (N,). Games that are over ignore the action and pay 0.

        Raises ``ValueError``, before any game moves, for an action outside the action space and, with
        ``illegal_action="raise"``, for an illegal one. Raises ``ValueError`` for an opponent that plays an illegal
        action; after that, as before the first ``reset``, ``ResetNeeded``.
        """
        self._check_ready()
        vec = self.vec
        chosen = as_array("actions", actions)
        if chosen.shape != self.over.shape or chosen.dtype.kind not in "iu":
            raise ValueError(
                f"actions: {chosen.dtype} of shape {chosen.shape}; expected integers of shape {self.over.shape}"
            )
        rows = np.flatnonzero(~self.over) if np.count_nonzero(self.over) else self._all
        stopped = None
        if self.illegal_action != RAISE:
            chosen, rows, stopped = self._without_illegal(chosen, rows)
        where = self._where(rows)
        if where is rows:
            vec.step(chosen[rows], rows)
        else:
            vec.step(chosen)
        self.ready = False
        if where is rows:
            paid = np.zeros(vec.num_envs)
            paid[rows] = self.owed[rows] + vec.rewards[rows, self.seats[rows]]
            self.owed[rows] = 0.0
        else:
            paid = self.owed + vec.rewards[rows, self.seats]
            self.owed.fill(0.0)
        self.skipped.fill(0)
        self.skipped_reward.fill(0.0)
        self.round_ended[:] = vec.round_ended
        self._others_play(rows, paid)
        self.over[where] = vec.current_player[where] < 0
        if stopped is not None:
            paid[stopped] = self.owed[stopped] + self.illegal_reward
            self.owed[stopped], self.over[stopped] = 0.0, True
        self.ready = True
        return paid

    def observation(self) -> NDArray[np.int8]:
        """The learners' observations: a new int8 array (N, O)."""
        seen = self.vec.observation.copy()
        if np.count_nonzero(self.over):
            over = np.flatnonzero(self.over)
            seen[over] = self.vec.observe(self.seats[over], over)
        return seen

    def action_masks(self) -> NDArray[np.int8]:
        """The learners' legal actions: a new int8 array (N, A) of 0 and 1; zeros where the episode is over."""
        masks = self.vec.action_mask.astype(np.int8)
        if np.count_nonzero(self.over):
            masks[self.over] = 0
        return masks

    def infos(
        self, rows: NDArray[np.bool_] | bool = True, every: bool = False
    ) -> dict[str, tuple[NDArray[Any], NDArray[np.bool_]]]:
        """What infos hold beside the action masks: by name, values (N,), and the games of ``rows`` (N,) that they are
        about; 0 in the others. ``every``: all names, even if no game has anything to tell, and -1 for no
        ``illegal_action``.

        These are the learner's statistics of a round that has ended, ``illegal_action``, ``skipped_games`` and
        ``skipped_reward``.
        """
        groups: list[tuple[dict[str, NDArray[Any]], NDArray[np.bool_]]] = []
        # For a single game, much faster than any().
        rounds, skips = np.count_nonzero(self.round_ended), np.count_nonzero(self.skipped)
        if not (rounds or skips or every) and self.illegal_action == RAISE:  # as in most steps
            return {}
        if rounds or every:
            seats = self._all, self.seats
            statistics = {name: values[seats].astype(np.int64) for name, values in self.vec.info.items()}
            groups.append((statistics, self.round_ended & rows))
        if self.illegal_action != RAISE:
            groups.append(({"illegal_action": self.illegal}, (self.illegal >= 0) & rows))
        if skips or every:
            skipped = {"skipped_games": self.skipped, "skipped_reward": self.skipped_reward}
            groups.append((skipped, (self.skipped > 0) & rows))
        infos = {}
        for named, where in groups:
            count = np.count_nonzero(where)
            for name, values in named.items() if count or every else ():
                nothing = values.dtype.type(-1 if every and name == "illegal_action" else 0)
                # The caller gets its own copy.
                shown = values.copy() if count == len(where) else np.where(where, values, nothing)
                infos[name] = shown, where
        return infos

    def _check_ready(self) -> None:
        if not self.ready:
            raise ResetNeeded(
                "call reset() of all games first: no game has begun, or an opponent's error interrupted the last step"
            )

    def _seeds(
        self, seed: int | Sequence[int | None] | None, rows: NDArray[np.int64]
    ) -> tuple[list[SeedSequence | None], list[SeedSequence | None]]:
        """The seeds of the deals and of everything else in ``rows``, as ``reset`` describes them."""
        several = isinstance(seed, list | tuple)
        seeds: Sequence[Any] = seed if isinstance(seed, list | tuple) else [seed]
        if (several and len(seeds) != self.vec.num_envs) or not all(
            one is None or (is_integer(one) and one >= 0) for one in seeds
        ):
            raise ValueError(
                f"seed={short_repr(seed)}: expected one integer of 0 or more for all games, a list of "
                f"{self.vec.num_envs}, or None"
            )
        places = [(seeds[row], 0) if several else (seeds[0], row) for row in rows.tolist()]
        deals, draws = (
            [
                None if entropy is None else SeedSequence(int(entropy), spawn_key=(kind, place))
                for entropy, place in places
            ]
            for kind in (0, 1)
        )
        return deals, draws

    def _made(self, k: int, root: SeedSequence) -> Agent:
        """Agent k of ``specs``, with a seed that follows from ``root``, unlike those of the games (`_seeds`)."""
        seed = SeedSequence(root.entropy, spawn_key=(2, k)).generate_state(1, np.uint64)
        return agent_of(self.specs[k], f"opponent {short_repr(self.specs[k])}", self.game, int(seed[0]))

    def _seat(self, rows: NDArray[np.int64]) -> None:
        seat = -1 if self.learner_seat == "random" else int(self.learner_seat)
        take_seats(self.generators, rows, seat, len(self.agents), self.drawn, self.seats, self.players)

    def _play_to_first_decisions(self, rows: NDArray[np.int64]) -> None:
        """Play ``rows``, which have just been dealt, up to the learners' first decisions. A game that ends before that
        is redealt."""
        self.illegal[rows], self.skipped[rows], self.skipped_reward[rows] = -1, 0, 0.0
        while True:
            self.over[rows], self.owed[rows], self.round_ended[rows] = False, 0.0, False
            self._others_play(rows, self.owed)
            rows = rows[self.vec.current_player[rows] < 0]
            if len(rows) == 0:
                break
            self.num_skipped += len(rows)
            self.skipped[rows] += 1
            self.skipped_reward[rows] += self.owed[rows]
            self.vec.deal(rows)
            self._seat(rows)

    def _where(self, rows: NDArray[np.int64]) -> NDArray[np.int64] | slice:
        """``rows``; if these are all, a slice, which is much faster."""
        return slice(None) if len(rows) == self.vec.num_envs else rows

    def _others_play(self, rows: NDArray[np.int64], paid: NDArray[np.float64]) -> None:
        """Play the others' moves in ``rows`` up to the learners' next decisions, and add the learners' pay to ``paid``
        (N,)."""
        vec = self.vec
        if len(rows) and all(type(agent) is RandomAgent for agent in self.agents):
            where = self._where(rows)
            play = make_random_play(vec.game.loops, vec.game.kernels.write_mask)
            vec.play_compiled(partial(play, self.seats, self.generators), rows)
            paid[where] += vec.rewards[rows, self.seats[where]]
            self.round_ended |= vec.round_ended
            return
        while True:
            to_move = vec.current_player[rows]
            rows = rows[(to_move >= 0) & (to_move != self.seats[rows])]
            if len(rows) == 0:
                return
            vec.step(self._ask(rows), rows)
            paid[rows] += vec.rewards[rows, self.seats[rows]]
            self.round_ended |= vec.round_ended

    def _ask(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The actions (M,) of the agents that are to move in ``rows`` (M,)."""
        movers = self.players[rows, self.vec.current_player[rows]]
        for k, agent in enumerate(self.agents):
            to_seed = rows[movers == k]
            if len(to_seed) and hasattr(agent, "seed_decisions"):
                numbers = np.empty(len(to_seed), np.uint64)
                draw_numbers(self.generators, to_seed, numbers)
                agent.seed_decisions(numbers)
        return ask_agents(self.agents, self.labels, movers, self.vec, rows)

    def _without_illegal(
        self, actions: NDArray[np.integer], rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """``actions`` (N,) and ``rows`` without illegal actions, and the rows whose episode such an action ends.

        Raises ``ValueError``, before any change, for an action outside the action space.
        """
        outside = rows[(actions[rows] < 0) | (actions[rows] >= self.game.num_actions)]
        if len(outside):
            raise ValueError(
                f"action {actions[outside[0]]} in game {outside[0]}: expected an integer from 0 to "
                f"{self.game.num_actions - 1}"
            )
        chosen = actions.astype(np.int64)
        bad = rows[~self.vec.action_mask[rows, chosen[rows]]]
        self.illegal.fill(-1)
        self.illegal[bad] = chosen[bad]
        if self.illegal_action == TERMINATE:
            return chosen, np.setdiff1d(rows, bad), bad
        replace_actions(self.generators, self.vec.action_mask, bad, chosen)
        return chosen, rows, bad[:0]


@cached_njit
def take_seats(generators, rows, learner_seat, num_agents, drawn, seats, players):  # type: ignore[no-untyped-def]
    """Seat the players of ``rows``: ``seats`` (N,) of the learner (``learner_seat``, or drawn if that is -1), and
    ``players`` (N, P), the agents: drawn from ``num_agents``, or in order, clockwise from the learner."""
    num_players = players.shape[1]
    for i in rows:
        seat = learner_seat if learner_seat >= 0 else random_below(generators[i], num_players)
        seats[i] = seat
        players[i, seat] = -1
        for turn in range(1, num_players):
            agent = random_below(generators[i], num_agents) if drawn else (turn - 1) % num_agents
            players[i, (seat + turn) % num_players] = agent


@cache
def make_random_play(loops: Loops, write_mask: Callable[..., None]) -> Callable[..., None]:
    """What plays uniformly random legal actions in compiled code, for `Vec.play_compiled`.

    It plays each game i until ``seats[i]`` is to move or the game is over; a value that is no seat, such as -1, lets
    all seats play to the end. An action takes the next 64 bits of ``generators[i]``. The outcomes are those of all
    these actions together.
    """
    step_game, view_games = loops.step_game, loops.view_games

    @cached_njit(nogil=True)
    def random_play(seats, generators, games, rows, outcomes, views):  # type: ignore[no-untyped-def]
        params, game_generators, states, logs = games
        rewards, terminated, round_ended, win_shares = outcomes
        legal = views[1]
        p = params[0]
        for i in rows:
            state = states[i]
            while not state.terminated and state.current_player != seats[i]:
                write_mask(p, state, legal[i])
                action = legal_at(legal[i], unit_interval(next_uint64(generators[i])))
                step_game(p, game_generators[i], state, logs[i], action)
                for seat in range(p.num_players):
                    rewards[i, seat] += state.rewards[seat]
                if state.round_ended:
                    round_ended[i] = True
                if state.terminated:
                    terminated[i] = True
                    for seat in range(p.num_players):
                        win_shares[i, seat] = state.win_shares[seat]
        view_games(games, rows, views)

    return random_play


@cached_njit
def draw_numbers(generators, rows, numbers):  # type: ignore[no-untyped-def]
    """64 random bits for each of ``rows`` (M,), from the generator of its game, into ``numbers`` (M,)."""
    for k in range(len(rows)):
        numbers[k] = next_uint64(generators[rows[k]])


@cached_njit
def replace_actions(generators, masks, rows, actions):  # type: ignore[no-untyped-def]
    """Replace ``actions`` (N,) in ``rows`` by random legal ones, by ``masks`` (N, A)."""
    for i in rows:
        actions[i] = legal_at(masks[i], unit_interval(next_uint64(generators[i])))


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
            raise ValueError(
                f"opponents={short_repr(opponents)}: expected {{'any_of': [one or more agents]}}"
            )
        return list(pool)
    if isinstance(opponents, str | bytes) or not isinstance(opponents, Sequence):
        return [opponents]
    if len(opponents) != others:
        raise ValueError(
            f"opponents={short_repr(opponents)}: {len(opponents)} agents for {others} other seats; give one agent "
            f"for all, one for each other seat, or {{'any_of': [...]}} to draw from"
        )
    return list(opponents)
