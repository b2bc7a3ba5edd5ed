"""Who wins and who led a trick of Cat Te."""

from catbox_env.core.bits import next_seat
from catbox_env.core.compilation import njit
from catbox_env.games.cat_te.play.cards import pack, suit_of
from catbox_env.games.cat_te.play.state import NONE


@njit
def trick_winner(params, state, trick, led):
    """The seat with the highest face-up card of suit ``led`` in ``trick``."""
    winner, best = NONE, NONE
    for seat in range(params.num_players):
        card = int(state.faceup[seat, trick])
        if card > best and suit_of(card) == led:
            winner, best = seat, card
    return winner


@njit
def leaders_of(params, state):
    """The leader of each trick up to the current one, packed; NONE if nobody led a completed one."""
    leader = next_seat(int(state.dealer), params.num_players)
    leaders = leader
    for trick in range(state.trick):
        card = int(state.faceup[leader, trick])
        if card < 0:
            return NONE
        leader = trick_winner(params, state, trick, suit_of(card))
        leaders |= pack(leader, trick + 1)
    return leaders
