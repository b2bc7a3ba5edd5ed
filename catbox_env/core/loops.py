"""What runs a game's kernels: beginning, stepping and viewing one game, and loops of these over an array of games.

`make_loops` closes over the kernels of a game; the result, ``game.loops``, lists the functions. Those of one game are
compiled into their callers: the loops here, or another driver, such as a search, that plays games in compiled code by
the same rules. Write a driver as an inner function; the outer one takes the game and gives its functions local names:

    def make_first_legal(game):
        step_game, write_mask = game.loops.step_game, game.kernels.write_mask

        @cached_njit(nogil=True)
        def first_legal(params, generators, states, log, mask):
            while not states[0].terminated:
                write_mask(params[0], states[0], mask)
                step_game(params[0], generators[0], states[0], log, mask.argmax())

        return first_legal

Arrays: ``params`` (1,), ``states`` (N,) and ``generators`` (N,) are records; ``logs`` (N, T, 3) int8 has rows of (seat,
action, what the others saw of it), or is (N, 0, 3) when no history is kept; the others are described in
`core.vec.Vec`. ``rows`` are the games that a call processes, so that threads can share a batch and a step can cover
only some games. Neither ``begin_game`` and ``step_game`` nor the kernels that they call allocate memory, so that a
thread of a GPU can run them.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from catbox_env.core.bits import clear, relative_seat
from catbox_env.core.compilation import cached_njit, njit
from catbox_env.core.kernels import REWARDS, UNUSED, Kernels
from catbox_env.core.rng import random_below

MARGIN, WIN = REWARDS.index("margin"), REWARDS.index("win")


# The loops receive these three as plain tuples, because Numba unpacks a named tuple in Python at every call; the loops
# unpack their arrays first, because every access through a tuple inside a loop would count references.


class Games(NamedTuple):
    """The rules, and what changes while games are played."""

    params: np.ndarray
    generators: np.ndarray
    states: np.ndarray
    logs: np.ndarray


class Outcomes(NamedTuple):
    """What a step writes about itself."""

    rewards: np.ndarray
    terminated: np.ndarray
    round_ended: np.ndarray
    win_shares: np.ndarray


class Views(NamedTuple):
    """What is written for the seat to move: ``legal`` serves to check its action, ``mask`` is for the caller.

    ``state_vectors`` (N, S) and ``histories`` (N, T, 2) may have no elements.
    """

    observation: np.ndarray
    legal: np.ndarray
    mask: np.ndarray
    current_player: np.ndarray
    state_vectors: np.ndarray
    histories: np.ndarray


@njit(inline="always")
def shape_rewards(params, state):
    """Turn the points of the ended round into the chosen reward."""
    num_players = params.num_players
    if params.reward_mode == MARGIN:
        total = 0.0
        for seat in range(num_players):
            total += state.rewards[seat]
        for seat in range(num_players):
            own = state.rewards[seat]
            state.rewards[seat] = own - (total - own) / (num_players - 1)
    elif params.reward_mode == WIN:
        for seat in range(num_players):
            state.rewards[seat] = state.win_shares[seat] if state.terminated else 0.0


@njit(inline="always")
def write_history(params, state, log, seat, out):
    """The history as ``seat`` saw it: rows of ``out`` (T, 2) are (relative seat, action) or ``UNUSED``."""
    for i in range(len(out)):
        if i < state.num_moves:
            mover = log[i, 0]
            out[i, 0] = relative_seat(mover, seat, params.num_players)
            out[i, 1] = log[i, 1] if mover == seat else log[i, 2]
        else:
            out[i, 0] = UNUSED
            out[i, 1] = UNUSED


@njit(inline="always")
def random_legal(mask, generator, scratch):
    """A uniformly random legal action; ``scratch`` (A,) receives the list of them."""
    count = 0
    for action in range(len(mask)):
        scratch[count] = action
        count += mask[action]
    return scratch[random_below(generator, count)]


class Loops:
    """The compiled functions of the games with some `Kernels`: an attribute for each function in ``__init__``.

    ``begin_game``, ``take_action`` and ``step_game`` are about one game and are compiled into their callers. The others
    are called from Python, without the interpreter's lock where they loop over many games, or from a driver. Those that
    end in ``_one``, and ``step_if_legal``, get arrays (1,) of states and generators.
    """

    def __init__(self, kernels: Kernels) -> None:
        deal, apply, next_round = kernels.deal, kernels.apply, kernels.next_round
        write_mask, public_action = kernels.write_mask, kernels.public_action
        write_observation, write_state = kernels.write_observation, kernels.write_state

        # Inlined: a call with rows of arrays as arguments counts references to them, a tenth of the time.
        @njit(inline="always")
        def begin_game(params, generator, state):
            """Begin a new game in ``state``."""
            state.terminated = 0
            state.round_ended = 0
            state.num_moves = 0
            state.rounds_ended = 0
            for seat in range(params.num_players):
                state.rewards[seat] = 0.0
                state.win_shares[seat] = 0.0
                state.returns[seat] = 0.0
            deal(params, generator, state)

        self.begin_game = begin_game

        @njit(inline="always")
        def take_action(params, generator, state, log, action):
            """Take a legal action, log it if ``log`` (T, 3) has room, and write the rewards. A round that ends is not
            followed by the next one."""
            if state.num_moves < len(log):
                row = log[state.num_moves]
                row[0] = state.current_player
                row[1] = action
                row[2] = public_action(params, state, action)
            state.num_moves += 1
            state.round_ended = 0
            for seat in range(params.num_players):
                state.rewards[seat] = 0.0
            apply(params, generator, state, action)
            if state.round_ended:
                state.rounds_ended += 1
                shape_rewards(params, state)
                for seat in range(params.num_players):
                    state.returns[seat] += state.rewards[seat]

        self.take_action = take_action

        @njit(inline="always")
        def step_game(params, generator, state, log, action):
            """`take_action`; then begin the next round if one has ended and the game goes on."""
            take_action(params, generator, state, log, action)
            if state.round_ended and not state.terminated:
                next_round(params, generator, state)

        self.step_game = step_game

        # One game, from Python.

        @cached_njit
        def step_if_legal(params, generators, states, log, action, mask):
            """Take an action, ``0 .. A-1``, if it is legal, and return whether it is. ``mask`` (A,) then holds the
            legal actions of the seat to move."""
            write_mask(params[0], states[0], mask)
            if not mask[action]:
                return False
            step_game(params[0], generators[0], states[0], log, action)
            write_mask(params[0], states[0], mask)
            return True

        self.step_if_legal = step_if_legal

        @cached_njit
        def take_one(params, generators, states, log, action):
            """`take_action` in one game."""
            take_action(params[0], generators[0], states[0], log, action)

        self.take_one = take_one

        @cached_njit
        def mask_one(params, states, out):
            """The legal actions of the seat to move, into ``out`` (A,)."""
            write_mask(params[0], states[0], out)

        self.mask_one = mask_one

        @cached_njit
        def observe_one(params, states, seat, out):
            """What ``seat`` sees, into ``out`` (O,)."""
            clear(out)
            write_observation(params[0], states[0], seat, out)

        self.observe_one = observe_one

        @cached_njit
        def state_one(params, states, seat, out):
            """Everything, seats relative to ``seat``, into ``out`` (S,)."""
            clear(out)
            write_state(params[0], states[0], seat, out)

        self.state_one = state_one

        @cached_njit
        def history_one(params, states, log, seat, out):
            """The history as ``seat`` saw it, into ``out`` (T, 2)."""
            write_history(params[0], states[0], log, seat, out)

        self.history_one = history_one

        # Many games.

        @cached_njit(nogil=True)
        def view_games(games, rows, views):
            """Write what the seat to move sees; a game that is over is seen by seat 0."""
            params, _, states, logs = Games(*games)
            observation, legal, mask, current_player, state_vectors, histories = Views(*views)
            p = params[0]
            for i in rows:
                state = states[i]
                seat = max(0, int(state.current_player))
                current_player[i] = state.current_player
                clear(observation[i])
                write_observation(p, state, seat, observation[i])
                write_mask(p, state, legal[i])
                for action in range(mask.shape[1]):
                    mask[i, action] = legal[i, action]
                if state_vectors.shape[1] > 0:
                    clear(state_vectors[i])
                    write_state(p, state, seat, state_vectors[i])
            if histories.shape[1] > 0:
                for i in rows:
                    write_history(p, states[i], logs[i], max(0, int(states[i].current_player)), histories[i])

        self.view_games = view_games

        @cached_njit(nogil=True)
        def deal_games(params, generators, states, rows):
            """Begin new games."""
            for i in rows:
                begin_game(params[0], generators[i], states[i])

        self.deal_games = deal_games

        @cached_njit(nogil=True)
        def check_actions(legal, rows, actions, bad):
            """Write the places in ``rows`` of illegal actions to the front of ``bad`` and return their number."""
            count = 0
            for k in range(len(rows)):
                action = actions[k]
                if action < 0 or action >= legal.shape[1] or not legal[rows[k], action]:
                    bad[count] = k
                    count += 1
            return count

        self.check_actions = check_actions

        @cached_njit(nogil=True)
        def step_games(games, rows, actions, auto_deal, outcomes, views):
            """Take one legal action in each game; ``auto_deal``: deal a finished game anew. Then view the games."""
            params, generators, states, logs = Games(*games)
            rewards, terminated, round_ended, win_shares = Outcomes(*outcomes)
            p = params[0]
            for k in range(len(rows)):
                i = rows[k]
                state = states[i]
                step_game(p, generators[i], state, logs[i], actions[k])
                for seat in range(p.num_players):
                    rewards[i, seat] = state.rewards[seat]
                terminated[i] = state.terminated != 0
                round_ended[i] = state.round_ended != 0
                if state.terminated:
                    for seat in range(p.num_players):
                        win_shares[i, seat] = state.win_shares[seat]
                    if auto_deal:
                        begin_game(p, generators[i], state)
            view_games(games, rows, views)

        self.step_games = step_games

        @cached_njit(nogil=True)
        def step_games_at_random(games, rows, actions, num_steps, action_generators, outcomes, views):
            """Take ``num_steps`` uniformly random legal actions in each game, drawn by ``action_generators`` (N,), and
            write everything after each."""
            legal = Views(*views).legal
            scratch = np.empty(legal.shape[1], np.int64)
            for _ in range(num_steps):
                for k in range(len(rows)):
                    actions[k] = random_legal(legal[rows[k]], action_generators[rows[k]], scratch)
                step_games(games, rows, actions, True, outcomes, views)

        self.step_games_at_random = step_games_at_random

        @cached_njit(nogil=True)
        def write_observations(params, states, rows, seats, out):
            """What ``seats[k]`` sees of game ``rows[k]``, into ``out`` (M, O)."""
            for k in range(len(rows)):
                clear(out[k])
                write_observation(params[0], states[rows[k]], seats[k], out[k])

        self.write_observations = write_observations

        @cached_njit(nogil=True)
        def public_actions(params, states, rows, actions, out):
            """What the other seats see of legal ``actions`` (M,), into ``out`` (M,)."""
            for k in range(len(rows)):
                out[k] = public_action(params[0], states[rows[k]], actions[k])

        self.public_actions = public_actions


@cache
def make_loops(kernels: Kernels) -> Loops:
    """The functions of the games with these kernels, compiled when they are first called."""
    return Loops(kernels)
