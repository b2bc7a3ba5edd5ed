"""The rules of Cat Te as kernels: dealing, legal actions, actions, tricks, settlement.

Action ids, with card = rank * 4 + suit:

    0 .. 51      play card id face up (in the blind trick: choose it)
    52 .. 103    fold card id - 52
    104          CLAIM the side pot
    105          SHOW an instant win
"""

from __future__ import annotations

from catbox_env.core.bits import bit_index, next_seat, nth_bit
from catbox_env.core.compilation import cached_njit, njit
from catbox_env.core.kernels import HIDDEN
from catbox_env.core.rng import random_below
from catbox_env.games.cat_te import rules
from catbox_env.games.cat_te.rules import (
    BLIND_TRICK,
    HAND_SIZE,
    LAST_TRICK,
    NUM_CARDS,
    NUM_EARLY_TRICKS,
    NUM_SUITS,
    NUM_TRICKS,
)
from catbox_env.games.cat_te.state import (
    ALL_CARDS,
    CLAIM,
    FOLD,
    FOUR_OF_A_KIND,
    INFO_CLAIMED,
    INFO_ELIMINATED,
    INFO_SCORE,
    INFO_SHOWED,
    INFO_TRICKS,
    INFO_WON,
    LOW_CARDS,
    LOW_HAND,
    NEVER,
    NONE,
    ONE_SUIT,
    SAME_SUIT,
    SHOW,
)
from catbox_env.games.standings import share_win

# Cards.

suit_of, rank_of = njit(rules.suit_of), njit(rules.rank_of)
card_at, card_of = njit(rules.card_at), njit(rules.card_of)


@cached_njit
def of_suit(cards, suit):
    """The cards of ``suit`` in a set."""
    return cards & (ONE_SUIT << int(suit))


@njit
def beats(card, best, led):
    """Whether ``card``, face up, is a lead, or of the suit ``led`` and above ``best``, the best card yet or NONE."""
    return card > best and (led == NONE or suit_of(card) == led)


# A round.


@njit
def deal(params, generator, state):
    """Begin a new game: scores at zero, an empty side pot, the first round dealt."""
    for seat in range(params.num_players):
        state.scores[seat] = 0
    state.pot = 0
    state.rounds_left = params.num_rounds - 1
    state.dealer = params.dealer
    deal_round(params, generator, state)


@njit
def deal_round(params, generator, state):
    """Collect stakes, deal hands and the upturned card, given ``dealer``, ``rounds_left``, ``scores`` and ``pot``."""
    clear_table(params, state)
    state.pot += params.num_players * params.side_pot
    undealt = ALL_CARDS
    left = NUM_CARDS
    for seat in range(params.num_players):
        state.hand[seat] = draw_cards(generator, undealt, left, HAND_SIZE)
        undealt &= ~state.hand[seat]
        left -= HAND_SIZE
    state.upturned = NONE
    if params.side_pot > 0:
        state.upturned = bit_index(nth_bit(undealt, random_below(generator, left)))


@njit
def draw_cards(generator, cards, size, number):
    """A uniform random set of ``number`` of the ``size`` members of ``cards``."""
    drawn = 0
    for i in range(number):
        drawn |= nth_bit(cards & ~drawn, random_below(generator, size - i))
    return drawn


@njit
def clear_table(params, state):
    """Begin a round with the cards dealt: nothing played or claimed, everybody in, the first seat to lead."""
    first = next_seat(int(state.dealer), params.num_players)
    state.leader = first
    state.current_player = first
    state.led = NONE
    state.trick = 0
    state.claimed = NONE
    state.claim_trick = NONE
    for trick in range(NUM_TRICKS):
        state.winners[trick] = NONE
    for seat in range(params.num_players):
        state.folded[seat] = 0
        state.fold_tricks[seat] = 0
        state.chosen[seat] = NONE
        state.in_round[seat] = 1
        for trick in range(NUM_TRICKS):
            state.faceup[seat, trick] = NONE
        for suit in range(NUM_SUITS):
            state.void_since[seat, suit] = NEVER


# Actions.


@njit
def write_mask(params, state, mask):
    """Write the legal actions of the seat to move into ``mask`` (A,)."""
    seat = int(state.current_player)
    if seat < 0:
        for action in range(len(mask)):
            mask[action] = False
        return
    hand = state.hand[seat]
    # The cards that may be played face up (or chosen), and those that may be folded.
    faceup, folds = hand, hand
    if seat == state.leader or is_blind(params, state.trick):
        folds = 0
    elif of_suit(hand, state.led):
        faceup = of_suit(hand, state.led)
    elif not params.offsuit_faceup:
        faceup = 0
    for card in range(NUM_CARDS):
        mask[card] = ((faceup >> card) & 1) != 0
    for card in range(NUM_CARDS):
        mask[FOLD + card] = ((folds >> card) & 1) != 0
    wanted = claiming_card(state)
    mask[CLAIM] = wanted != NONE and state.claimed == NONE and ((hand >> wanted) & 1) != 0
    mask[SHOW] = params.instant_wins != 0 and state.trick == 0 and instant_win(hand) != NONE


@cached_njit
def is_blind(params, trick):
    """Whether the followers of ``trick`` choose cards face down, which are shown together."""
    return params.eliminates != 0 and trick == BLIND_TRICK


@njit
def chooses_blind(params, state):
    """Whether the seat to move plays a card by choosing it face down: the followers of a blind trick do."""
    return is_blind(params, state.trick) and state.current_player != state.leader


@cached_njit
def claiming_card(state):
    """The card with which the side pot can be claimed, next above the upturned one.

    NONE without a side pot, and if an ace is turned up.
    """
    card = int(state.upturned) + NUM_SUITS
    return card if state.upturned != NONE and card < NUM_CARDS else NONE


@cached_njit
def instant_win(hand):
    """Which instant win six cards are: FOUR_OF_A_KIND, SAME_SUIT or LOW_HAND; NONE if they are none."""
    if hand & (hand >> 1) & (hand >> 2) & (hand >> 3) & ONE_SUIT:
        return FOUR_OF_A_KIND
    for suit in range(NUM_SUITS):
        if of_suit(hand, suit) == hand:
            return SAME_SUIT
    return LOW_HAND if hand & ~LOW_CARDS == 0 else NONE


@njit
def apply(params, generator, state, action):
    """Take a legal action of the seat to move."""
    seat = int(state.current_player)
    if action == CLAIM:
        state.claimed = seat
        state.claim_trick = state.trick
        return
    if action == SHOW:
        end_round(params, state, seat, params.show_factor, seat)
        return
    card = card_of(int(action))
    state.hand[seat] &= ~(1 << card)
    if action >= FOLD:
        state.folded[seat] |= 1 << card
        state.fold_tricks[seat] |= 1 << int(state.trick)
    elif chooses_blind(params, state):
        state.chosen[seat] = card
    else:
        play_face_up(state, seat, card)
    if pass_turn(params, state):
        end_trick(params, state)


@njit
def play_face_up(state, seat, card):
    """``seat`` leads ``card``, or adds it to the trick; not to follow suit shows that it has none of the led suit."""
    state.faceup[seat, state.trick] = card
    if seat == state.leader:
        state.led = suit_of(card)
    elif suit_of(card) != state.led and state.void_since[seat, state.led] == NEVER:
        state.void_since[seat, state.led] = state.trick


@njit
def public_action(params, state, action):
    """What the other seats see of an action: everything except which card is folded or chosen blind."""
    folds = FOLD <= action < CLAIM
    return HIDDEN if folds or (action < FOLD and chooses_blind(params, state)) else action


@njit
def pass_turn(params, state):
    """Give the turn to the next seat clockwise that is not eliminated; returns whether the trick is complete."""
    following = next_seat(int(state.current_player), params.num_players)
    while not state.in_round[following]:
        following = next_seat(following, params.num_players)
    state.current_player = following
    return following == state.leader


# Tricks and settlement.


@cached_njit
def trick_winner(params, state, trick, led):
    """The seat with the highest face-up card of suit ``led`` in ``trick``; NONE if there is none."""
    winner, best = NONE, NONE
    for seat in range(params.num_players):
        card = int(state.faceup[seat, trick])
        if beats(card, best, led):
            winner, best = seat, card
    return winner


@njit
def award_trick(params, state):
    """Give the trick to its winner, who leads next, and return it; after the fourth, seats without a trick are out."""
    winner = trick_winner(params, state, int(state.trick), int(state.led))
    state.winners[state.trick] = winner
    if state.trick == NUM_EARLY_TRICKS - 1 and params.eliminates:
        for seat in range(params.num_players):
            state.in_round[seat] = 1 if tricks_won(state, seat, NUM_EARLY_TRICKS) > 0 else 0
    state.leader = winner
    state.current_player = winner
    state.led = NONE
    return winner


@njit
def tricks_won(state, seat, number):
    """How many of the first ``number`` tricks ``seat`` has won."""
    won = 0
    for trick in range(number):
        won += 1 if state.winners[trick] == seat else 0
    return won


@cached_njit
def has_swept(params, state, seat):
    """Whether ``seat`` has won the round with all four early tricks."""
    for trick in range(NUM_EARLY_TRICKS):
        if state.winners[trick] != seat:
            return False
    return params.eliminates != 0


@njit
def end_trick(params, state):
    """Show blind choices and award the trick; after the fifth, the sixth plays itself."""
    if is_blind(params, state.trick):
        for seat in range(params.num_players):
            if state.chosen[seat] >= 0:
                state.faceup[seat, BLIND_TRICK] = state.chosen[seat]
                state.chosen[seat] = NONE
    winner = award_trick(params, state)
    if has_swept(params, state, winner):
        end_round(params, state, winner, params.sweep_factor, NONE)
        return
    state.trick += 1
    if state.trick == LAST_TRICK:
        for seat in range(params.num_players):
            if state.in_round[seat]:
                state.faceup[seat, LAST_TRICK] = bit_index(state.hand[seat])
                state.hand[seat] = 0
        state.led = suit_of(state.faceup[winner, LAST_TRICK])
        end_round(params, state, award_trick(params, state), 1, NONE)


@njit
def end_round(params, state, winner, factor, showed):
    """Pay ``factor`` antes to ``winner`` from each other seat, and the side pot; the last round ends the game.

    ``showed`` is the seat that showed an instant win, or NONE.
    """
    players = params.num_players
    for seat in range(players):
        antes = factor * (players - 1) if seat == winner else -factor
        state.info[INFO_SCORE, seat] = antes - params.side_pot
        state.info[INFO_WON, seat] = 1 if seat == winner else 0
        state.info[INFO_TRICKS, seat] = tricks_won(state, seat, NUM_TRICKS)
        state.info[INFO_ELIMINATED, seat] = 1 - state.in_round[seat]
        state.info[INFO_SHOWED, seat] = 1 if seat == showed else 0
        state.info[INFO_CLAIMED, seat] = 1 if seat == state.claimed else 0
    if state.claimed != NONE:
        state.info[INFO_SCORE, state.claimed] += state.pot
        state.pot = 0
    elif state.rounds_left == 0:
        for seat in range(players):
            state.info[INFO_SCORE, seat] += state.pot // players
        state.pot = 0
    for seat in range(players):
        state.rewards[seat] = state.info[INFO_SCORE, seat]
        state.scores[seat] += state.info[INFO_SCORE, seat]
    state.round_ended = 1
    state.current_player = NONE
    if state.rounds_left == 0:
        state.terminated = 1
        share_win(params.num_players, state.scores, state.info[INFO_SCORE], state.win_shares)


@njit
def next_round(params, generator, state):
    """Deal the next round; the winner of the last one is the dealer."""
    state.rounds_left -= 1
    for seat in range(params.num_players):
        if state.info[INFO_WON, seat]:
            state.dealer = seat
    deal_round(params, generator, state)
