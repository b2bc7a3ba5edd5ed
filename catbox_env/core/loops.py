"""The loops that run a game's kernels over an array of games; one game is an array of one.

The kernels stand here as free names. ``core.kernels.bind`` gives each game a compiled copy of these functions in
which the names are its own kernels, so nothing here knows a game.

Arrays: ``params`` (1,) and ``states`` (N,), ``generators`` (N,) are records; ``logs`` (N, T, 3) int8 rows of
(seat, action, what the others saw of it), or (N, 0, 3) when no history is kept; the others are described in
``core.batch.Vec``. ``start`` and ``stop`` bound the games of one call, so that threads can share a batch.
"""

from __future__ import annotations

from collections.abc import Callable

from catbox_env.core.rng import random_below, split

deal: Callable
apply: Callable
write_mask: Callable
write_observation: Callable
write_state: Callable
shown_action: Callable
sample: Callable

#: Compiled into the loops that call them.
HELPERS = ("begin", "shape_rewards", "advance", "write_history", "choose")
#: Called from Python, kept in the cache on disk.
LOOPS = (
    "deal_games",
    "check_actions",
    "step_games",
    "view_games",
    "view_histories",
    "step_games_at_random",
    "apply_one",
    "mask_one",
    "observe_one",
    "state_one",
    "history_one",
    "sample_one",
    "split_one",
)


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
    if len(log) > 0:
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


def deal_games(params, generators, states):
    """New games everywhere."""
    for i in range(len(states)):
        begin(params[0], generators[i], states[i])


def check_actions(legal, actions, bad):
    """Write the rows of illegal actions to the front of ``bad`` and return how many there are."""
    count = 0
    for i in range(len(actions)):
        action = actions[i]
        if action < 0 or action >= legal.shape[1] or not legal[i, action]:
            bad[count] = i
            count += 1
    return count


def view_games(params, states, start, stop, observation, legal, mask, current_player, state_vectors):
    """Write what the seat to move sees."""
    p = params[0]
    for i in range(start, stop):
        state = states[i]
        seat = state.current_player
        current_player[i] = seat
        write_observation(p, state, seat, observation[i])
        write_mask(p, state, legal[i])
        for a in range(mask.shape[1]):
            mask[i, a] = legal[i, a]
        if state_vectors.shape[1] > 0:
            write_state(p, state, seat, state_vectors[i])


def view_histories(params, states, logs, start, stop, out):
    """Write the history of the seat to move into ``out`` (N, T, 2)."""
    for i in range(start, stop):
        write_history(params[0], states[i], logs[i], states[i].current_player, out[i])


def step_games(params, generators, states, logs, start, stop, actions, rewards, terminated, round_ended):
    """One checked action in every game; a finished game is dealt anew."""
    p = params[0]
    for i in range(start, stop):
        state = states[i]
        advance(p, generators[i], state, logs[i], actions[i])
        for seat in range(p.num_players):
            rewards[i, seat] = state.rewards[seat]
        terminated[i] = state.terminated != 0
        round_ended[i] = state.round_ended != 0
        if state.terminated:
            begin(p, generators[i], state)


def step_games_at_random(
    params,
    generators,
    states,
    logs,
    start,
    stop,
    num_steps,
    choosers,
    scratch,
    actions,
    observation,
    legal,
    mask,
    current_player,
    state_vectors,
    rewards,
    terminated,
    round_ended,
):
    """``num_steps`` uniformly random legal actions in every game, everything written after each of them."""
    for _ in range(num_steps):
        for i in range(start, stop):
            actions[i] = choose(legal[i], choosers[i], scratch)
        step_games(params, generators, states, logs, start, stop, actions, rewards, terminated, round_ended)
        view_games(params, states, start, stop, observation, legal, mask, current_player, state_vectors)


def apply_one(params, generators, states, log, action):
    """One legal action in a single game."""
    advance(params[0], generators[0], states[0], log, action)


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


def sample_one(params, observation, generators, states):
    """A state drawn from those consistent with ``observation``; 1 when there is none."""
    return sample(params[0], observation, generators[0], states[0])


def split_one(generators, children):
    """An independent generator."""
    split(generators[0], children[0])
