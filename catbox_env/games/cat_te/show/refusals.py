"""Why an action of Cat Te is illegal, in words."""

from __future__ import annotations

import numpy as np

from catbox_env.games.cat_te.play.state import CLAIM, FOLD, NONE, ONE_SUIT, SHOW
from catbox_env.games.cat_te.rules import (
    BLIND_TRICK,
    NUM_CARDS,
    NUM_SUITS,
    SUITS,
    Rules,
    card_to_string,
)
from catbox_env.games.cat_te.show.view import cards_in, cards_to_string


def why_illegal(rules: Rules, state: np.record, action: int) -> str:
    """The rule that forbids an illegal ``action`` in ``state``."""
    seat = int(state.current_player)
    if action == SHOW:
        return _why_no_show(rules, state)
    if action == CLAIM:
        return _why_no_claim(rules, state)
    card = action % NUM_CARDS
    hand = int(state.hand[seat])
    if not hand >> card & 1:
        return f"there is no {card_to_string(card)} in the hand: {cards_to_string(cards_in(hand))}"
    if action >= FOLD:
        if seat == state.leader:
            return "the leader of a trick plays face up and cannot fold"
        assert state.trick == BLIND_TRICK, "every other fold is legal"
        return "in the fifth trick every card is shown, so none can be folded"
    led = SUITS[state.led]
    if hand & (ONE_SUIT << int(state.led)):
        return f"a card played face up has to follow suit while the hand holds {led}; play {led} or fold"
    assert not rules.offsuit_faceup, "every other card is legal"
    return f"without {led} a card can only be folded (offsuit_faceup=False)"


def _why_no_show(rules: Rules, state: np.record) -> str:
    if not rules.instant_wins:
        return "these rules have no instant wins (instant_wins=False)"
    if state.trick > 0:
        return "a hand can only be shown on the first turn of a round"
    return "the hand is no instant win: four of a kind, six of one suit, or six from A, 2, 3, 4, 5"


def _why_no_claim(rules: Rules, state: np.record) -> str:
    if not rules.side_pot:
        return "these rules have no side pot (side_pot=0)"
    if state.claimed != NONE:
        return f"seat {state.claimed} has claimed the side pot of this round"
    wanted = int(state.upturned) + NUM_SUITS
    if wanted >= NUM_CARDS:
        return f"the upturned card is {card_to_string(state.upturned)}, and no card is above an ace"
    return f"that takes {card_to_string(wanted)}, next above the upturned {card_to_string(state.upturned)}"
