"""Who wins a trick of Cat in the Box, and what happens when a trick ends."""

from catbox_env.core.compilation import njit
from catbox_env.games.cat_in_the_box.play.state import NONE, RED


@njit
def trick_winner(params, state):
    """The seat with the highest red card, or else the highest card of the led colour."""
    winner, best = NONE, NONE
    for seat in range(params.num_players):
        strength = NONE
        if state.trick_color[seat] == RED:
            strength = params.num_ranks + int(state.trick_rank[seat])
        elif state.trick_color[seat] == state.led:
            strength = int(state.trick_rank[seat])
        if strength > best:
            winner, best = seat, strength
    return winner


@njit
def end_trick(params, state):
    """Give the trick to its winner, who leads next."""
    winner = trick_winner(params, state)
    for seat in range(params.num_players):
        state.trick_color[seat] = NONE
        state.trick_rank[seat] = NONE
    state.tricks_won[winner] += 1
    state.tricks_left -= 1
    state.leader = winner
    state.current_player = winner
    state.led = NONE
