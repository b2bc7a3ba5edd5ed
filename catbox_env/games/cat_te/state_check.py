"""Whether a record is a state of Cat Te that play, a given deal or a draw can lead to, whatever bytes it holds."""

from __future__ import annotations

from catbox_env.core.bits import popcount
from catbox_env.core.compilation import njit
from catbox_env.core.wins import is_win_shared
from catbox_env.games.cat_te.cards import (
    agrees_with_voids,
    claimed_card,
    counts_of,
    fold_tricks,
    folds_without_claimed,
    has_chosen,
    is_blind,
    known_cards,
    leaders_of,
    nobody_swept,
    num_played,
    packed,
    shows,
    suit_of,
    turn_of,
    voids_of,
)
from catbox_env.games.cat_te.rules import (
    BLIND_TRICK,
    DOUBLE,
    HAND_SIZE,
    LAST_TRICK,
    NUM_CARDS,
    NUM_EARLY_TRICKS,
    NUM_SUITS,
    NUM_TRICKS,
)
from catbox_env.games.cat_te.scores import balance
from catbox_env.games.cat_te.state import (
    ALL_CARDS,
    INFO_CLAIMED,
    INFO_ELIMINATED,
    INFO_SCORE,
    INFO_SHOWED,
    INFO_TRICKS,
    INFO_WON,
    NONE,
)


@njit
def check_state(params, state):
    """Whether the game can be played on from ``state``, or is over; see ``core.kernels.Kernels``."""
    if not in_range(params, state) or not info_in_range(params, state):
        return False
    tricks, mover = int(state.trick), int(state.current_player)
    if state.terminated:
        mover = int(state.leader)
        if tricks == 0:
            mover = shower_of(params, state)
        else:
            tricks += 1
        if mover == NONE or not is_sound_end(params, state):
            return False
    elif tricks > BLIND_TRICK or not nobody_swept(params, state) or not balance(params, state, False):
        return False
    if known_cards(params, state) == NONE or not is_sound_public(params, state, tricks, mover):
        return False
    leaders = leaders_of(params, state, tricks)
    moves = 1 if state.claimed != NONE else 0
    for seat in range(params.num_players):
        if not is_sound_hand(params, state, leaders, seat, tricks, mover):
            return False
        moves += num_played(params, state, seat, tricks, mover)
    return is_sound_history(params, state, moves)


@njit
def between(low, value, high):
    """Whether ``value`` is one of ``low`` .. ``high``."""
    return low <= value and value <= high


@njit
def in_range(params, state):
    """Whether every field of the round has a value that it can have by itself."""
    seats = params.num_players - 1
    if not between(0, state.dealer, seats) or not between(0, state.leader, seats):
        return False
    if not between(0, state.trick, LAST_TRICK) or not between(NONE, state.led, NUM_SUITS - 1):
        return False
    if not between(NONE, state.claimed, seats) or not between(NONE, state.claim_trick, BLIND_TRICK):
        return False
    lowest, highest = (0, NUM_CARDS - 1) if params.side_pot > 0 else (NONE, NONE)
    if not between(lowest, state.upturned, highest):
        return False
    if not between(0, state.rounds_left, params.num_rounds - 1):
        return False
    for seat in range(params.num_players):
        cards = int(state.hand[seat]) | int(state.folded[seat])
        if cards & ~ALL_CARDS or not between(NONE, state.chosen[seat], NUM_CARDS - 1):
            return False
        for trick in range(NUM_TRICKS):
            if not between(NONE, state.faceup[seat, trick], NUM_CARDS - 1):
                return False
        if not between(0, state.num_folded[seat], LAST_TRICK) or not between(0, state.in_round[seat], 1):
            return False
    return True


@njit
def info_in_range(params, state):
    """Whether the last finished round, which may be one of the game before, can have been such."""
    most = params.num_players * (DOUBLE + params.num_rounds * params.side_pot)
    for seat in range(params.num_players):
        for row in (INFO_WON, INFO_ELIMINATED, INFO_SHOWED, INFO_CLAIMED):
            if not between(0, state.info[row, seat], 1):
                return False
        if not between(0, state.info[INFO_TRICKS, seat], NUM_TRICKS):
            return False
        if not between(-most, state.info[INFO_SCORE, seat], most):
            return False
    return True


@njit
def shower_of(params, state):
    """The seat that has shown an instant win in the round that ended the game; NONE if none has, or several."""
    shower = NONE
    for seat in range(params.num_players):
        if state.info[INFO_SHOWED, seat]:
            if shower != NONE or params.instant_wins == 0:
                return NONE
            shower = seat
    return shower


@njit
def is_sound_end(params, state):
    """Whether the last round ended as one can, everything is paid, and the win is given away once."""
    if state.rounds_left != 0 or state.pot != 0 or not state.round_ended:
        return False
    if state.trick not in (0, NUM_EARLY_TRICKS - 1, LAST_TRICK):
        return False
    if (state.trick == NUM_EARLY_TRICKS - 1) == nobody_swept(params, state):
        return False
    most = params.num_rounds * params.num_players * (DOUBLE + params.side_pot)
    total = 0
    for seat in range(params.num_players):
        if not between(-most, state.scores[seat], most):
            return False
        total += int(state.scores[seat])
    return total == 0 and is_win_shared(params.num_players, state.win_shares)


@njit
def is_sound_history(params, state, moves):
    """Whether the game can have taken the moves that it counts; ``moves`` were taken in this round.

    A state that was drawn begins to count at 0 in the middle of a game.
    """
    finished = params.num_rounds - int(state.rounds_left) - (0 if state.terminated else 1)
    if not between(state.terminated, state.rounds_ended, finished) or state.num_moves < state.rounds_ended:
        return False
    if not state.terminated:
        if state.round_ended and (moves > 0 or state.rounds_ended == 0):
            return False
        for seat in range(params.num_players):
            if state.win_shares[seat] != 0.0:
                return False
    a_round = params.num_players * LAST_TRICK + (1 if params.side_pot > 0 else 0)
    return state.num_moves <= state.rounds_ended * a_round + (0 if state.terminated else moves)


@njit
def is_sound_public(params, state, tricks, mover):
    """Whether what everybody sees is consistent: who led, showed, folded and claimed what, and who is still in.

    Every field of ``state`` has a value in its range. Of the cards, only those that are shown are looked at.
    """
    leaders = leaders_of(params, state, tricks)
    if leaders == NONE or packed(leaders, tricks) != state.leader:
        return False
    led = int(state.faceup[state.leader, tricks]) if tricks < NUM_TRICKS else NONE
    if state.led != (suit_of(led) if led >= 0 else NONE):
        return False
    if not state.in_round[state.leader] or not state.in_round[mover]:
        return False
    for seat in range(params.num_players):
        if not is_sound_seat(params, state, leaders, seat, tricks, mover):
            return False
    return is_sound_claim(params, state, leaders, tricks, mover)


@njit
def is_sound_seat(params, state, leaders, seat, tricks, mover):
    """Whether the tricks that ``seat`` won, its folds, and what it shows are those of the tricks played."""
    won, early = 0, 0
    for trick in range(tricks):
        if packed(leaders, trick + 1) == seat:
            won += 1
            early += 1 if trick < NUM_EARLY_TRICKS else 0
    if won != state.tricks_won[seat] or early != state.early_tricks[seat]:
        return False
    out = params.eliminates != 0 and tricks >= NUM_EARLY_TRICKS and early == 0
    if state.in_round[seat] != (0 if out else 1):
        return False
    played = num_played(params, state, seat, tricks, mover)
    if state.num_folded[seat] != popcount(fold_tricks(params, state, seat, played)):
        return False
    voids = voids_of(params, state, leaders, seat, played)
    for trick in range(NUM_TRICKS):
        card = int(state.faceup[seat, trick])
        if card < 0:
            must_show = trick == LAST_TRICK or (is_blind(params, trick) and trick < tricks)
            if trick < played and (must_show or packed(leaders, trick) == seat):
                return False
            continue
        if trick >= played or packed(voids, suit_of(card)) < trick:
            return False
        if is_blind(params, trick) and trick == tricks and packed(leaders, trick) != seat:
            return False
        follows = suit_of(card) == suit_of(int(state.faceup[packed(leaders, trick), trick]))
        free = params.offsuit_faceup != 0 or is_blind(params, trick) or trick == LAST_TRICK
        if not follows and not free:
            return False
    return True


@njit
def is_sound_claim(params, state, leaders, tricks, mover):
    """Whether somebody can have claimed when and with the card that ``state`` says, as far as all can see."""
    seat, claim_trick = int(state.claimed), int(state.claim_trick)
    if seat == NONE or params.side_pot == 0:
        return seat == NONE and claim_trick == NONE
    card = claimed_card(state)
    if card >= NUM_CARDS or not 0 <= claim_trick <= min(int(state.trick), BLIND_TRICK):
        return False
    if claim_trick >= NUM_EARLY_TRICKS and not state.in_round[seat]:
        return False
    if claim_trick == tricks and turn_of(params, state, seat) > turn_of(params, state, mover):
        return False
    played = num_played(params, state, seat, tricks, mover)
    if packed(voids_of(params, state, leaders, seat, played), suit_of(card)) < claim_trick:
        return False
    for other in range(params.num_players):
        for trick in range(NUM_TRICKS):
            if state.faceup[other, trick] == card:
                return other == seat and trick >= claim_trick
    return True


@njit
def is_sound_hand(params, state, leaders, seat, tricks, mover):
    """Whether ``seat``, of which every card is known, can hold, have chosen and have folded what it does."""
    played = num_played(params, state, seat, tricks, mover)
    hand, folded, chosen = int(state.hand[seat]), int(state.folded[seat]), int(state.chosen[seat])
    if popcount(hand) != HAND_SIZE - played or popcount(folded) != state.num_folded[seat]:
        return False
    if (chosen >= 0) != has_chosen(params, state, seat, tricks, played):
        return False
    voids = voids_of(params, state, leaders, seat, played)
    folds = fold_tricks(params, state, seat, played)
    held = hand | (1 << chosen) if chosen >= 0 else hand
    if not agrees_with_voids(counts_of(held), 0, voids):
        return False
    card = claimed_card(state) if seat == state.claimed else NONE
    if card >= 0 and (folded >> card) & 1:
        folds = folds_without_claimed(folds, voids, suit_of(card), int(state.claim_trick))
        return folds != NONE and agrees_with_voids(counts_of(folded & ~(1 << card)), folds, voids)
    if card >= 0 and not (held >> card) & 1 and not shows(state, seat, card):
        return False
    return agrees_with_voids(counts_of(folded), folds, voids)
