"""The state that an observation of Petrify shows: nothing is hidden, so there is one at most."""

from __future__ import annotations

from catbox_env.core.compilation import njit
from catbox_env.games.petrify.observation import one_of, read_board, read_seats, shows_reach
from catbox_env.games.petrify.state_check import is_sound_board, is_sound_position


@njit
def sample(params, observation, generators, states):
    """Set each of ``states`` to the state that ``observation`` shows. 1 if no game under way looks like that."""
    if len(states) == 0:
        return 0
    state = states[0]
    if read_board(params, observation, state) or read_seats(params, observation, state):
        return 1
    if not is_sound_board(params, state) or not is_sound_position(params, state):
        return 1
    observer = one_of(observation, params.at.seat, 1, params.num_players)
    if not shows_reach(params, state, observer, observation):
        return 1
    for i in range(1, len(states)):
        states[i] = state
    return 0
