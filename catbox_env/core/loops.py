"""The loops that run a game's kernels over an array of games; one game is an array of one.

The kernels stand here as free names. ``core.kernels.bind`` gives each game a compiled copy of these functions in
which the names are its own kernels, so nothing here knows a game.

Arrays: ``params`` (1,) and ``states`` (N,), ``generators`` (N,) are records; ``logs`` (N, T, 3) int8 rows of
(seat, action, what the others saw of it), or (N, 0, 3) when no history is kept; the others are described in
``core.batch.Vec``. ``rows`` are the games that a call is about, so that threads can share a batch and a step can be
of some games alone.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

from catbox_env.core.rng import random_below, split

deal: Callable
apply: Callable
write_mask: Callable
write_observation: Callable
write_state: Callable
shown_action: Callable
sample: Callable
check_state: Callable

#: Compiled into the loops that call them.
HELPERS = ("begin", "shape_rewards", "advance", "write_history", "choose", "is_sound")
#: Called from Python, kept in the cache on disk. These release the interpreter lock, so that threads share a batch;
LOOPS = (
    "deal_games",
    "check_actions",
    "step_games",
    "view_games",
    "view_histories",
    "observe_games",
    "step_games_at_random",
    "sample_games",
    "first_unsound",
)
#: and these hold it, so that two threads cannot be in the same single game at once.
SINGLE_LOOPS = ("apply_if_legal", "mask_one", "observe_one", "state_one", "history_one", "split_one")


def begin(params, generator, state):
    """A new game in ``state``."""
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
    """Turn the points of the ended round into the reward that was asked for."""
    num_players = params.num_players
    if params.reward_mode == 1:
        total = 0.0
        for seat in range(num_players):
            total += state.rewards[seat]
        for seat in range(num_players):
            own = state.rewards[seat]
            state.rewards[seat] = own - (total - own) / (num_players - 1)
    elif params.reward_mode == 2:
        for seat in range(num_players):
            state.rewards[seat] = state.win_shares[seat] if state.terminated else 0.0


def advance(params, generator, state, log, action):
    """One legal action: logged, applied, paid."""
    if state.num_moves < len(log):
        row = log[state.num_moves]
        row[0] = state.current_player
        row[1] = action
        row[2] = shown_action(params, state, action)
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


def write_history(params, state, log, seat, out):
    """The history as ``seat`` saw it: rows of ``out`` (T, 2) are (relative seat, action), unused ones -2."""
    for i in range(len(out)):
        if i < state.num_moves:
            mover = log[i, 0]
            out[i, 0] = mover - seat if mover >= seat else mover - seat + params.num_players
            out[i, 1] = log[i, 1] if mover == seat else log[i, 2]
        else:
            out[i, 0] = -2
            out[i, 1] = -2


def choose(legal, chooser, scratch):
    """A uniformly random legal action; ``scratch`` (A,) takes the list of them."""
    count = 0
    for action in range(len(legal)):
        scratch[count] = action
        count += legal[action]
    return scratch[random_below(chooser, count)]


def is_sound(params, state, max_moves):
    """Whether the game can be played on: the fields of ``core`` here, the game's own in its kernel."""
    over = state.terminated != 0
    if not 0 <= state.terminated <= 1 or not 0 <= state.round_ended <= 1:
        return False
    if not -1 <= state.current_player < params.num_players or (state.current_player < 0) != over:
        return False
    if not 0 <= state.num_moves <= max_moves or not 0 <= state.rounds_ended <= max_moves:
        return False
    for seat in range(params.num_players):
        if not isfinite(state.rewards[seat]) or not isfinite(state.returns[seat]):
            return False
        if not 0.0 <= state.win_shares[seat] <= 1.0:
            return False
    return check_state(params, state)


def deal_games(params, generators, states, rows):
    """New games."""
    for i in rows:
        begin(params[0], generators[i], states[i])


def check_actions(legal, rows, actions, bad):
    """Write the places in ``rows`` of illegal actions to the front of ``bad`` and return how many there are."""
    count = 0
    for k in range(len(rows)):
        action = actions[k]
        if action < 0 or action >= legal.shape[1] or not legal[rows[k], action]:
            bad[count] = k
            count += 1
    return count


def view_games(params, states, rows, observation, legal, mask, current_player, state_vectors):
    """Write what the seat to move sees; a game that is over is seen by seat 0."""
    p = params[0]
    for i in rows:
        state = states[i]
        current_player[i] = state.current_player
        seat = max(0, int(state.current_player))
        write_observation(p, state, seat, observation[i])
        write_mask(p, state, legal[i])
        for a in range(mask.shape[1]):
            mask[i, a] = legal[i, a]
        if state_vectors.shape[1] > 0:
            write_state(p, state, seat, state_vectors[i])


def view_histories(params, states, logs, rows, out):
    """Write the history of the seat to move into ``out`` (N, T, 2)."""
    for i in rows:
        write_history(params[0], states[i], logs[i], max(0, int(states[i].current_player)), out[i])


def observe_games(params, states, rows, seats, out):
    """Write what ``seats[k]`` sees of game ``rows[k]`` into ``out[k]``."""
    for k in range(len(rows)):
        write_observation(params[0], states[rows[k]], seats[k], out[k])


def step_games(
    params,
    generators,
    states,
    logs,
    rows,
    actions,
    auto_deal,
    rewards,
    terminated,
    round_ended,
    win_shares,
):
    """One checked action in each game of ``rows``; a finished game is dealt anew if ``auto_deal``."""
    p = params[0]
    for k in range(len(rows)):
        i = rows[k]
        state = states[i]
        advance(p, generators[i], state, logs[i], actions[k])
        for seat in range(p.num_players):
            rewards[i, seat] = state.rewards[seat]
        terminated[i] = state.terminated != 0
        round_ended[i] = state.round_ended != 0
        if state.terminated:
            for seat in range(p.num_players):
                win_shares[i, seat] = state.win_shares[seat]
            if auto_deal:
                begin(p, generators[i], state)


def step_games_at_random(
    params,
    generators,
    states,
    logs,
    rows,
    actions,
    num_steps,
    choosers,
    scratch,
    rewards,
    terminated,
    round_ended,
    win_shares,
    observation,
    legal,
    mask,
    current_player,
    state_vectors,
):
    """``num_steps`` uniformly random legal actions in each game of ``rows``, everything written after each of them."""
    for _ in range(num_steps):
        for k in range(len(rows)):
            actions[k] = choose(legal[rows[k]], choosers[rows[k]], scratch)
        step_games(
            params,
            generators,
            states,
            logs,
            rows,
            actions,
            True,
            rewards,
            terminated,
            round_ended,
            win_shares,
        )
        view_games(params, states, rows, observation, legal, mask, current_player, state_vectors)


def apply_if_legal(params, generators, states, log, action, mask):
    """One action, ``0 .. A-1``, in a single game; whether it was legal, and so was taken.

    ``mask`` (A,) is left with the legal actions of the seat to move then.
    """
    write_mask(params[0], states[0], mask)
    if not mask[action]:
        return False
    advance(params[0], generators[0], states[0], log, action)
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
    """States drawn from those consistent with ``observation``, each with its own generator; 1 when there is none."""
    return sample(params[0], observation, generators, states)


def first_unsound(params, states, max_moves):
    """The index of the first of ``states`` from which no game can be played on, -1 when all are sound."""
    for i in range(len(states)):
        if not is_sound(params[0], states[i], max_moves):
            return i
    return -1


def split_one(generators, children):
    """An independent generator."""
    split(generators[0], children[0])
