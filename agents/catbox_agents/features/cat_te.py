"""Features of Cat Te: what a strong player counts, computed from one observation and its action mask; `FACTS`.

Unseen cards are those that are not in the own hand, not face up, not folded or chosen by the observer, and not
upturned. A claimed card counts as unseen until it is played: another seat may still win with it.
"""

from __future__ import annotations

from catbox_agents.features import Features, GameFacts
from catbox_agents.features.cat_te_view import VIEW, above, below, read_view
from catbox_env.core.bits import next_seat, popcount
from catbox_env.core.compilation import njit
from catbox_env.core.game import Game
from catbox_env.core.layout import Layout, Part
from catbox_env.games.cat_te.play import beats, card_at, is_blind, of_suit, rank_of, suit_of, trick_winner
from catbox_env.games.cat_te.rules import (
    HAND_SIZE,
    LAST_TRICK,
    NUM_CARDS,
    NUM_EARLY_TRICKS,
    NUM_RANKS,
    NUM_SUITS,
    Rules,
)
from catbox_env.games.cat_te.state import CLAIM, FOLD, NONE, SHOW

FACTS = GameFacts(
    transferable_options=("rounds", "dealer", "instant_wins_double"),
    adaptable_options=("offsuit_faceup", "instant_wins"),
    equivalent_values={"region": ("laos", "vietnamese")},
    binary_statistics=("won_round", "eliminated"),
    shares={
        "won_round": "by the agent",
        "eliminated": "after four tricks",
        "showed": "an instant win",
        "claimed": "the side pot",
    },
)

#: The number of "unseen cards above" if there is no card.
NO_CARD = NUM_RANKS


def feature_layout(rules: Rules) -> Layout:
    """The features of a position under ``rules``; all rules have the same parts."""
    players = rules.num_players
    return Layout(
        [
            Part("suit_cards", (NUM_SUITS,), "own cards of each suit", 0, HAND_SIZE),
            Part("unseen", (NUM_SUITS,), "unseen cards of each suit", 0, NUM_RANKS),
            Part("masters", (NUM_SUITS,), "own cards that no unseen card of the suit beats", 0, HAND_SIZE),
            Part(
                "above_best",
                (NUM_SUITS,),
                f"unseen cards above the own best of the suit; {NO_CARD}: none in hand",
                0,
                NO_CARD,
            ),
            Part("voids", (players, NUM_SUITS), "1: the seat has shown that it has no card of the suit"),
            Part("swept", (players,), "1: in the round, and has won every trick so far"),
            Part("others_in", (1,), "other seats in the round", 0, players - 1),
            Part("winning", (players,), "who is winning the trick, one-hot; zeros: no card yet"),
            Part("best_rank", (1,), "rank of the winning card, 1 the two; 0: no card yet", 0, NUM_RANKS),
            Part("beaters", (1,), "unseen cards that would beat it", 0, NUM_RANKS),
            Part("own_beaters", (1,), "own cards that would beat it", 0, HAND_SIZE),
            Part("rivals", (1,), "other seats that act later in the trick, or chose blind", 0, players - 1),
        ]
    )


def action_feature_layout(rules: Rules) -> Layout:
    """The features of one action: of the card played or folded, unless stated otherwise."""
    players = rules.num_players
    return Layout(
        [
            Part("rank", (1,), "its rank, 1 the two", 0, NUM_RANKS),
            Part("face_up", (1,), "1: played, not folded"),
            Part("follows", (1,), "1: of the led suit, or the lead"),
            Part("above", (1,), "unseen cards of its suit above it", 0, NUM_RANKS),
            Part("below", (1,), "unseen cards of its suit below it", 0, NUM_RANKS),
            Part("wins_now", (1,), "1: played, and beats the cards on the table"),
            Part("rivals", (1,), "if so: seats that may still beat it", 0, players - 1),
            Part("wins_surely", (1,), "1: wins now, and no seat or no unseen card can beat it"),
            Part("stays_in", (1,), "1: wins now, and the observer needs an early trick to stay in"),
            Part("stops_sweep", (1,), "1: wins now, and the seat now winning has won every trick so far"),
            Part("suit_left", (1,), "own cards of its suit after it", 0, HAND_SIZE),
            Part("masters_left", (1,), "own cards after it that no unseen card beats", 0, HAND_SIZE),
            Part("above_best_left", (1,), "fewest unseen cards above a card left", 0, NO_CARD),
            Part("shows", (1,), "1: SHOW"),
            Part("claims", (1,), "1: CLAIM", included=rules.side_pot > 0),
        ]
    )


def make_features(game: Game) -> Features:
    """The features of Cat Te under the rules of ``game``."""
    return Features(game, feature_layout(game.rules), action_feature_layout(game.rules), write, VIEW)


@njit
def write_position(params, at, view, out):
    """Write the features of the position."""
    for suit in range(NUM_SUITS):
        own = of_suit(view.hand, suit)
        masters, fewest = 0, NO_CARD
        for rank in range(NUM_RANKS):
            card = card_at(rank, suit)
            if (own >> card) & 1:
                fewest = above(view.unseen, card)
                masters += 1 if fewest == 0 else 0
        out[at.suit_cards + suit] = popcount(own)
        out[at.unseen + suit] = popcount(of_suit(view.unseen, suit))
        out[at.masters + suit] = masters
        out[at.above_best + suit] = fewest
    for seat in range(params.num_players):
        out[at.swept + seat] = (view.swept >> seat) & 1
    out[at.others_in] = popcount(view.in_round & ~1)
    out[at.rivals] = view.rivals
    if view.best != NONE:
        out[at.winning + view.best_seat] = 1
        out[at.best_rank] = rank_of(view.best) + 1
        out[at.beaters] = above(view.unseen, view.best)
        out[at.own_beaters] = above(view.hand, view.best)
    write_voids(params, at, view, out)


@njit
def write_voids(params, at, view, out):
    """Write each seat's voids: a card of another suit, shown voluntarily, proves a void in the led suit."""
    leader = next_seat(view.dealer, params.num_players)
    for trick in range(min(view.trick + 1, LAST_TRICK)):
        lead = view.faceup[leader, trick]
        if lead == NONE:
            return
        led = suit_of(lead)
        if not is_blind(params, trick):
            for seat in range(params.num_players):
                card = view.faceup[seat, trick]
                # without branches, which would be unpredictable
                out[at.voids + seat * NUM_SUITS + led] |= (card != NONE) & (suit_of(card) != led)
        leader = trick_winner(params, view, trick, led)


@njit
def write_card(params, at, view, card, face_up, out):
    """Write the features of playing or folding ``card``."""
    suit, unseen = suit_of(card), view.unseen
    left = view.hand & ~(1 << card)
    higher = above(unseen, card)
    out[at.action_rank] = rank_of(card) + 1
    out[at.action_face_up] = 1 if face_up else 0
    out[at.action_follows] = 1 if view.led in (NONE, suit) else 0
    out[at.action_above] = higher
    out[at.action_below] = below(unseen, card)
    if face_up and beats(card, view.best, view.led):
        out[at.action_wins_now] = 1
        out[at.action_rivals] = view.rivals
        out[at.action_wins_surely] = 1 if view.rivals == 0 or higher == 0 else 0
        if params.eliminates and view.trick < NUM_EARLY_TRICKS:
            out[at.action_stays_in] = 1 if view.early_tricks[0] == 0 else 0
            if view.best_seat > 0:
                out[at.action_stops_sweep] = (view.swept >> view.best_seat) & 1
    masters, fewest = 0, NO_CARD
    for other in range(NUM_CARDS):
        if (left >> other) & 1:
            over = above(unseen, other)
            masters += 1 if over == 0 else 0
            fewest = min(fewest, over)
    out[at.action_suit_left] = popcount(of_suit(left, suit))
    out[at.action_masters_left] = masters
    out[at.action_above_best_left] = fewest


@njit
def write_actions(params, at, view, mask, action_out):
    """Write the features of the legal actions into ``action_out`` (A, K), all zeros."""
    for card in range(NUM_CARDS):
        if mask[card]:
            write_card(params, at, view, card, True, action_out[card])
        if mask[FOLD + card]:
            write_card(params, at, view, card, False, action_out[FOLD + card])
    if mask[SHOW]:
        action_out[SHOW, at.action_shows] = 1
    if mask[CLAIM] and params.side_pot > 0:
        action_out[CLAIM, at.action_claims] = 1


@njit
def write(params, at, seen, mask, view, out, action_out):
    """See `Features`; ``view`` is a record of `VIEW`."""
    read_view(params, seen, view)
    write_position(params, at, view, out)
    write_actions(params, at, view, mask, action_out)
