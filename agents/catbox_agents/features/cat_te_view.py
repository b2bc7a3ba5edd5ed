"""A view of an observation of Cat Te, for features and the heuristic: what a seat knows, as sets of cards."""

from __future__ import annotations

import numpy as np

from catbox_env.core.bits import one_hot_index, popcount
from catbox_env.core.compilation import njit
from catbox_env.core.kernels import record_dtype
from catbox_env.games.cat_te.observe import CARD_WIDTH, read_card, read_set
from catbox_env.games.cat_te.play import is_blind, of_suit, suit_of, trick_winner
from catbox_env.games.cat_te.rules import MAX_PLAYERS, NUM_SUITS, NUM_TRICKS
from catbox_env.games.cat_te.state import ALL_CARDS, NONE

#: What one observation says; seats are relative to the observer.
VIEW = record_dtype(
    [
        ("hand", np.int64),  # set of the own cards
        ("unseen", np.int64),  # set of the cards that the observer has not seen
        ("faceup", np.int64, (MAX_PLAYERS, NUM_TRICKS)),  # card shown by seat and trick, or NONE
        ("early_tricks", np.int64, (MAX_PLAYERS,)),  # tricks won among the first four
        ("in_round", np.int64),  # set of the seats that are not eliminated
        ("swept", np.int64),  # set of the seats that have won every trick so far
        ("dealer", np.int64),
        ("trick", np.int64),  # the current trick
        ("leader", np.int64),  # who led or will lead it
        ("led", np.int64),  # suit led, or NONE
        ("best", np.int64),  # the card that is winning the trick, or NONE
        ("best_seat", np.int64),  # whose it is, or NONE
        ("rivals", np.int64),  # other seats that may still beat a card of the observer
    ]
)


@njit
def read_view(params, observation, view):
    """Read an observation (O,) into ``view``, a record of `VIEW`."""
    players, at = params.num_players, params.at
    trick = max(0, one_hot_index(observation, at.trick, NUM_TRICKS))
    leader = max(0, one_hot_index(observation, at.leader, players))
    mover = max(0, one_hot_index(observation, at.to_move, players))
    view.trick, view.leader = trick, leader
    view.dealer = max(0, one_hot_index(observation, at.dealer, players))
    view.led = one_hot_index(observation, at.led_suit, NUM_SUITS)
    view.hand = read_set(observation, at.hand)
    known = view.hand | read_set(observation, at.folded) | read_set(observation, at.chosen)
    if params.side_pot > 0:
        known |= read_set(observation, at.upturned)
    in_round = rivals = swept = 0
    for seat in range(players):
        for earlier in range(NUM_TRICKS):
            card = NONE
            if earlier <= trick:
                card = read_card(observation, at.faceup + (seat * NUM_TRICKS + earlier) * CARD_WIDTH)
            view.faceup[seat, earlier] = card
            if card != NONE:
                known |= 1 << card
        view.early_tricks[seat] = observation[at.early_tricks + seat]
        if observation[at.in_round + seat]:
            in_round |= 1 << seat
            if trick > 0 and observation[at.tricks_won + seat] == trick:
                swept |= 1 << seat
            later = (seat - leader) % players >= (mover - leader) % players
            # In the blind trick nobody sees what earlier seats have chosen.
            if seat > 0 and (later or (is_blind(params, trick) and seat != leader)):
                rivals += 1
    view.best_seat = trick_winner(params, view, trick, view.led)
    view.best = view.faceup[view.best_seat, trick] if view.best_seat != NONE else NONE
    view.in_round, view.rivals, view.swept = in_round, rivals, swept
    view.unseen = ALL_CARDS & ~known


@njit
def above(cards, card):
    """The number of cards in a set that are of the suit of ``card`` and higher."""
    return popcount(of_suit(cards >> (card + 1) << (card + 1), suit_of(card)))


@njit
def below(cards, card):
    """The number of cards in a set that are of the suit of ``card`` and lower."""
    return popcount(of_suit(cards & ((1 << card) - 1), suit_of(card)))
