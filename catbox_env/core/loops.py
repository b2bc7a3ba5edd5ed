"""What runs a game's kernels: beginning, stepping and viewing one game, and loops of these over an array of games.

The kernels are free names here. ``core.binding.bind`` gives each game a compiled copy of these functions in which the
names are its own kernels, so nothing here depends on a game. The copies are the attributes of ``game.loops``.

The functions of one game (`ONE_GAME`) are compiled into their callers: the loops below, or another driver, such as a
search, that plays games in compiled code by the same rules. Write a driver as an inner function, as below: the outer
function takes the game and gives its kernels local names, the inner one is compiled.


    def make_first_legal(game):
        step_game, write_mask = game.loops.step_game, game.kernels.write_mask

        @cached_njit(nogil=True)
        def first_legal(params, generators, states, log, mask):
            while not states[0].terminated:
                write_mask(params[0], states[0], mask)
                step_game(params[0], generators[0], states[0], log, mask.argmax())

        return first_legal

Arrays: ``params`` (1,) and ``states`` (N,), ``generators`` (N,) are records; ``logs`` (N, T, 3) int8 rows of
(seat, action, what the others saw of it), or (N, 0, 3) when no history is kept; the others are described in
``core.batch.Vec``. ``rows`` are the games that a call processes, so that threads can share a batch and a step can
cover only some games.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from catbox_env.core.bits import legal_at, relative_seat
from catbox_env.core.kernels import REWARDS, UNUSED, history_rows
from catbox_env.core.rng import next_uint64, random_below, split, unit_interval

deal: Callable
apply: Callable
write_mask: Callable
write_observation: Callable
write_state: Callable
public_action: Callable
sample: Callable
check_state: Callable
rewind: Callable
draw_round: Callable

#: Functions of one game, compiled into their callers.
ONE_GAME = (
    "begin_game",
    "shape_rewards",
    "step_game",
    "view_game",
    "write_history",
    "draw_legal",
    "replays",
)
#: Called from Python, cached on disk. These release the interpreter lock, so that threads can share a batch;
LOOPS = (
    "deal_games",
    "check_actions",
    "step_games",
    "view_games",
    "view_histories",
    "observe_games",
    "step_games_at_random",
    "play_others_at_random",
    "sample_games",
    "first_refused",
    "sample_batch",
    "rewind_games",
    "draw_earlier_round",
    "public_actions",
)
#: and these hold it, so that two threads cannot be in the same single game at once.
SINGLE_LOOPS = ("apply_if_legal", "mask_one", "observe_one", "state_one", "history_one", "split_one")

#: Results of `replays`.
DIFFERS, GOES_ON, ROUND_ENDED = -1, 0, 1
#: Values of ``params.reward_mode``.
MARGIN, WIN = REWARDS.index("margin"), REWARDS.index("win")


# The loops receive these three as plain tuples, because Numba unpacks a named tuple in Python at every call; the loops
# unpack their arrays first, because every access through a tuple inside a loop would count references.


class Games(NamedTuple):
    """What a batch plays with."""

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
    """What is written for the seat to move: ``legal`` serves to check its action, ``mask`` is for the caller."""

    observation: np.ndarray
    legal: np.ndarray
    mask: np.ndarray
    current_player: np.ndarray
    state_vectors: np.ndarray


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


def step_game(params, generator, state, log, action):
    """Take one legal action: log it if ``log`` (T, 3) has room, apply it, pay rewards."""
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


def view_game(params, state, observation, mask, state_vector):
    """Write what the seat to move sees, its legal actions, and the full state relative to it.

    A game that is over is seen by seat 0. ``state_vector`` (S,) may be empty.
    """
    seat = max(0, int(state.current_player))
    write_observation(params, state, seat, observation)
    write_mask(params, state, mask)
    if len(state_vector) > 0:
        write_state(params, state, seat, state_vector)


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


def draw_legal(legal, generator, scratch):
    """A uniformly random legal action; ``scratch`` (A,) receives the list of them."""
    count = 0
    for action in range(len(legal)):
        scratch[count] = action
        count += legal[action]
    return scratch[random_below(generator, count)]


def deal_games(params, generators, states, rows):
    """Begin new games."""
    for i in rows:
        begin_game(params[0], generators[i], states[i])


def check_actions(legal, rows, actions, bad):
    """Write the positions in ``rows`` of illegal actions to the front of ``bad`` and return their number."""
    count = 0
    for k in range(len(rows)):
        action = actions[k]
        if action < 0 or action >= legal.shape[1] or not legal[rows[k], action]:
            bad[count] = k
            count += 1
    return count


def view_games(games, rows, views):
    """Write what the seat to move sees; a game that is over is seen by seat 0."""
    params, _, states, _ = Games(*games)
    observation, legal, mask, current_player, state_vectors = Views(*views)
    for i in rows:
        state = states[i]
        current_player[i] = state.current_player
        view_game(params[0], state, observation[i], legal[i], state_vectors[i])
        for action in range(mask.shape[1]):
            mask[i, action] = legal[i, action]


def view_histories(games, rows, out):
    """Write the history of the seat to move into ``out`` (N, T, 2)."""
    params, _, states, logs = Games(*games)
    for i in rows:
        write_history(params[0], states[i], logs[i], max(0, int(states[i].current_player)), out[i])


def observe_games(games, rows, seats, out):
    """Write what ``seats[k]`` sees of game ``rows[k]`` into ``out[k]``."""
    params, _, states, _ = Games(*games)
    for k in range(len(rows)):
        write_observation(params[0], states[rows[k]], seats[k], out[k])


def step_games(games, rows, actions, auto_deal, outcomes):
    """Take one checked action in each game of ``rows``; a finished game is dealt anew if ``auto_deal``."""
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


def step_games_at_random(games, rows, actions, num_steps, action_generators, outcomes, views):
    """Take ``num_steps`` uniformly random legal actions in each game of ``rows``, writing everything after each."""
    legal = Views(*views).legal
    scratch = np.empty(legal.shape[1], np.int64)
    for _ in range(num_steps):
        for k in range(len(rows)):
            actions[k] = draw_legal(legal[rows[k]], action_generators[rows[k]], scratch)
        step_games(games, rows, actions, True, outcomes)
        view_games(games, rows, views)


def play_others_at_random(games, rows, seats, action_generators, outcomes, views):
    """Take random legal actions in each game of ``rows`` until ``seats[i]`` is to move in game i, or it is over.

    The outcomes are those of all these actions together.
    """
    params, generators, states, logs = Games(*games)
    rewards, terminated, round_ended, win_shares = Outcomes(*outcomes)
    legal = Views(*views).legal
    p = params[0]
    for i in rows:
        state = states[i]
        terminated[i] = False
        round_ended[i] = False
        for seat in range(p.num_players):
            rewards[i, seat] = 0.0
        while not state.terminated and state.current_player != seats[i]:
            write_mask(p, state, legal[i])
            action = legal_at(legal[i], unit_interval(next_uint64(action_generators[i])))
            step_game(p, generators[i], state, logs[i], action)
            for seat in range(p.num_players):
                rewards[i, seat] += state.rewards[seat]
            if state.round_ended:
                round_ended[i] = True
            if state.terminated:
                terminated[i] = True
                for seat in range(p.num_players):
                    win_shares[i, seat] = state.win_shares[seat]
    view_games(games, rows, views)


def apply_if_legal(params, generators, states, log, action, mask):
    """Take one action, ``0 .. A-1``, in a single game if it is legal; returns whether it was.

    ``mask`` (A,) then holds the legal actions of the seat to move.
    """
    write_mask(params[0], states[0], mask)
    if not mask[action]:
        return False
    step_game(params[0], generators[0], states[0], log, action)
    write_mask(params[0], states[0], mask)
    return True


def mask_one(params, states, out):
    """The mask of the seat to move of a single game."""
    write_mask(params[0], states[0], out)


def observe_one(params, states, seat, out):
    """What ``seat`` sees of a single game."""
    write_observation(params[0], states[0], seat, out)


def state_one(params, states, seat, out):
    """Everything about a single game, seats relative to ``seat``."""
    write_state(params[0], states[0], seat, out)


def history_one(params, states, log, seat, out):
    """The history of a single game as ``seat`` saw it."""
    write_history(params[0], states[0], log, seat, out)


def sample_games(params, observation, generators, states):
    """Sample states consistent with ``observation``, each with its own generator; 1 if there is none."""
    return sample(params[0], observation, generators, states)


def first_refused(params, states):
    """The index of the first of ``states``, all within their bounds, that ``check_state`` rejects; -1: none."""
    for i in range(len(states)):
        if not check_state(params[0], states[i]):
            return i
    return -1


def sample_batch(params, observations, counts, generators, states):
    """Sample ``counts[i]`` consecutive states, at least 1, for each of ``observations`` (M, O).

    Returns -1, or the index of the first observation that no seat of this game can see.
    """
    seen = np.empty(observations.shape[1], np.int8)
    end = 0
    for i in range(len(observations)):
        first, end = end, end + counts[i]
        drawn = states[first:end]
        if sample_games(params, observations[i], generators[first:end], drawn):
            return i
        if first_refused(params, drawn) >= 0:
            return i
        # A vector that no seat can see differs from every seat's observation of the state sampled for it.
        same = False
        for seat in range(params[0].num_players):
            write_observation(params[0], drawn[0], seat, seen)
            same = same or (seen == observations[i]).all()
        if not same:
            return i
    return -1


def rewind_games(
    params, generators, states, seats, histories, history_of, actions, weights, acceptance, again, seen
):
    """Take worlds (N,) back to the beginning of their round; see ``core.past``.

    World i has the history ``histories[history_of[i]]`` of the seat ``seats[i]``. ``actions`` (N, T), ``weights`` and
    ``acceptance`` (N,) are filled; ``again`` (1,), a record of a state, and ``seen`` (2, O) are scratch. Returns -1, or
    the index of the first world that contradicts its history.
    """
    for i in range(len(states)):
        state = states[i]
        seat, mover = seats[i], int(state.current_player)
        write_observation(params[0], state, seat, seen[0])
        for k in range(actions.shape[1]):
            actions[i, k] = UNUSED
        history = histories[history_of[i]]
        weights[i], acceptance[i] = rewind(params[0], generators[i], state, seat, history, actions[i])
        if weights[i] < 0.0:
            return i
        again[0] = state
        last, count = history_rows(history), 0
        while count < actions.shape[1] and actions[i, count] != UNUSED:
            count += 1
        rows = history[max(0, last - count) : last]
        if replays(params, generators[i], again[0], seat, rows, actions[i]) == GOES_ON:
            # Not the full state: what the others know of the observer's hand is not in its own observation.
            write_observation(params[0], again[0], seat, seen[1])
            if again[0].current_player == mover and (seen[0] == seen[1]).all():
                continue
        weights[i], acceptance[i] = 0.0, 0.0
    return -1


def draw_earlier_round(
    params, generators, states, observer, known, history, first, next_seat, actions, drawn, tries
):
    """Draw an earlier round until it agrees with ``history`` (T, 2), at most ``tries`` times.

    ``states`` (1,) is at the beginning of the round; ``drawn[0]``, of two records of states, receives it with the drawn
    deal. ``actions`` (T,) as in the kernel ``draw_round``. ``next_seat`` moves after the last row of the history.
    Returns the number of actions; 0 if no draw agrees, -1 for rows that no round can begin with.
    """
    for _ in range(tries):
        drawn[0] = states[0]
        count = draw_round(params[0], generators[0], drawn[0], observer, known, history, first, actions)
        if count < 0:
            return count
        following = next_seat
        if first + count < len(history) and history[first + count, 0] != UNUSED:
            following = (int(history[first + count, 0]) + observer) % params[0].num_players
        drawn[1] = drawn[0]
        end = first + count
        led_to = replays(params, generators[0], drawn[1], observer, history[first:end], actions[first:end])
        if led_to == ROUND_ENDED and drawn[1].current_player == following:
            return count
    return 0


def replays(params, generator, state, observer, rows, actions):
    """Play ``actions``, one for each of ``rows`` of a history (n, 2), from ``state``; returns where they lead.

    DIFFERS if one of them is illegal, if the seat ``observer`` does not see it as its row says, or if the round ends
    before the last; ROUND_ENDED if it ends with the last; else GOES_ON.
    """
    mask = np.empty(params[0].num_actions, np.bool_)
    no_log = np.empty((0, 3), np.int8)
    for i in range(len(rows)):
        action, mover = actions[i], int(state.current_player)
        if mover < 0 or relative_seat(mover, observer, params[0].num_players) != rows[i, 0]:
            return DIFFERS
        write_mask(params[0], state, mask)
        if action < 0 or action >= len(mask) or not mask[action]:
            return DIFFERS
        seen = action if mover == observer else public_action(params[0], state, action)
        if seen != rows[i, 1]:
            return DIFFERS
        step_game(params[0], generator, state, no_log, action)
        if state.round_ended:
            return ROUND_ENDED if i == len(rows) - 1 else DIFFERS
    return GOES_ON


def public_actions(params, states, rows, actions, out):
    """Write what the other seats see of ``actions[k]``, legal in game ``rows[k]``, into ``out[k]``."""
    for k in range(len(rows)):
        out[k] = public_action(params[0], states[rows[k]], actions[k])


def split_one(generators, children):
    """Split off an independent generator."""
    split(generators[0], children[0])
