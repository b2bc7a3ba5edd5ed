"""Features of Cat in the Box: what a strong player counts, computed from one observation and its action mask; `FACTS`.

A card fits only cells of its own rank. So the largest number of hand cards that can still be placed (the maximum
matching of cards to empty cells of the colours kept) is a sum over the ranks: the number of cards or of cells of the
rank, whichever is smaller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from catbox_agents.features import Features, GameFacts, axis_indices
from catbox_agents.features.cat_in_the_box_view import (
    EXACT,
    NEEDS,
    QUARTERS,
    VIEW,
    largest_group_with,
    placeable_cards,
    read_view,
)
from catbox_env.core.bits import INT8_MAX, INT8_MIN, clip_int8, neighbours, popcount
from catbox_env.core.compilation import njit
from catbox_env.core.game import Game
from catbox_env.core.layout import Layout, Part
from catbox_env.games.cat_in_the_box.play import cell_at, costs_token, strength
from catbox_env.games.cat_in_the_box.rules import Rules
from catbox_env.games.cat_in_the_box.state import NONE, RED


def axis_labels(game: Game, part: str) -> tuple[Sequence[Any], ...]:
    """Those of `GameFacts`: bids are compared by their number of tricks."""
    return (range(game.num_players), game.rules.bids) if part == "bids" else axis_indices(game, part)


def statistics(game: Game, info: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Those of `GameFacts`."""
    paradox = info["paradox"] != 0
    any_paradox = np.repeat(paradox.any(axis=1, keepdims=True), paradox.shape[1], axis=1)
    found = {
        "score": info["score"].astype(np.float64),
        "tricks_won": info["tricks_won"].astype(np.float64),
        "bonus": info["bonus"].astype(np.float64),
        "paradox": paradox.astype(np.float64),
        # Whether any seat caused a paradox: the same for all seats.
        "any_paradox": any_paradox.astype(np.float64),
    }
    if game.rules.bids:  # the seat that caused a paradox gets no bonus, whatever it bid
        found["bid_hit"] = ((info["bid"] == info["tricks_won"]) & ~paradox).astype(np.float64)
    return found


FACTS = GameFacts(
    transferable_options=("rounds", "start_player"),
    adaptable_options=("bids", "revealed_cards"),
    axis_labels=axis_labels,
    statistics=statistics,
    binary_statistics=("paradox", "bid_hit"),
    shares={
        "paradox": "caused by the agent",
        "any_paradox": "caused by anyone",
        "bid_hit": "exactly the tricks bid",
    },
    counted_values=lambda game: {"bid": game.rules.bids} if game.rules.bids else {},
)

#: What a seat wants, in the order of ``view``.
STATUS = "free (no bid yet, or more tricks are optional), needs more tricks, wants no more, bonus lost"
NUM_STATUS = 4


def feature_layout(rules: Rules) -> Layout:
    """The features of a position under ``rules``, without those that they do not need."""
    players, ranks, colors, tricks = rules.num_players, rules.num_ranks, rules.num_colors, rules.num_tricks
    copies, cells, cards = rules.copies, colors * ranks, ranks * rules.copies
    most_placed = min(cells, rules.hand_size)
    bidding = bool(rules.bids)
    most = players * rules.bids[-1] if bidding else 0
    return Layout(
        [
            Part("unseen", (ranks,), "copies of each rank that the observer has not seen", 0, copies),
            Part("empty_cells", (ranks,), "empty cells of each rank", 0, colors),
            Part("own_cells", (ranks,), "those in colours that the observer may declare", 0, colors),
            Part("placeable", (ranks,), "own cards of each rank that can be placed", 0, min(copies, colors)),
            Part(
                "placeable_total", (1,), "their sum: the maximum matching of cards to cells", 0, most_placed
            ),
            Part("slack", (1,), "that sum minus the own plays to come in a full round", -tricks, most_placed),
            Part("color_cells", (colors,), "empty cells of each colour", 0, ranks),
            Part(
                "color_plays", (colors,), "those for which the observer has a card and the X-token", 0, ranks
            ),
            Part("highest_cell", (colors,), "highest rank with an empty cell, by colour; 0: none", 0, ranks),
            Part("masters", (colors,), "own declarations that no unseen card of the colour beats", 0, ranks),
            Part("sure_leads", (1,), "those that no unseen trump beats either: sure to win if led", 0, cells),
            Part("trump_threat", (1,), "unseen cards that another seat could declare red", 0, cards),
            Part("expected_tricks", (1,), "expected tricks of the hand, in quarters", 0, QUARTERS * tricks),
            Part("tokens_left", (players,), "X-tokens of each seat", 0, colors),
            Part("seat_cells", (players,), "empty cells in colours that the seat may declare", 0, cells),
            Part("seat_cards", (players,), "unseen (own: hand) cards with such a cell", 0, cards),
            Part("group", (players,), "size of each seat's largest group", 0, tricks),
            Part("group_room", (players,), "cells beside it that the seat may declare", 0, cells),
            Part("needed", (players,), "bid minus tricks won; 0: no bid yet", -tricks, tricks),
            Part("status", (players, NUM_STATUS), f"{STATUS}: one-hot"),
            Part("winning", (players,), "who is winning the trick, one-hot; zeros: no card yet"),
            Part("winner_status", (NUM_STATUS,), "status of that seat, one-hot; zeros: no card yet"),
            Part("best_rank", (1,), "rank of the winning card; 0: no card yet", 0, ranks),
            Part("best_is_trump", (1,), "1: the winning card is red"),
            Part("beaters", (1,), "unseen cards that could beat it in its colour", 0, cards),
            Part("trump_beaters", (1,), "unseen cards that could beat it as trump; 0: it is red", 0, cards),
            Part("following", (1,), "other seats that have yet to play to the trick", 0, players - 1),
            Part(
                "bid_total", (1,), "sum of the bids made, minus the tricks of a round", -tricks, most, bidding
            ),
            Part(
                "demand", (1,), "tricks that seats still need, minus the tricks left", -tricks, most, bidding
            ),
        ]
    )


def action_feature_layout(rules: Rules) -> Layout:
    """The features of one action under ``rules``. Unless stated otherwise, those of plays; 0 for other actions."""
    players, ranks, colors, tricks = rules.num_players, rules.num_ranks, rules.num_colors, rules.num_tricks
    copies, cells, cards = rules.copies, colors * ranks, ranks * rules.copies
    most_placed = min(cells, rules.hand_size)
    bidding = bool(rules.bids)
    highest = rules.bids[-1] if bidding else 0
    return Layout(
        [
            Part("rank", (1,), "(play, discard) rank of the card", 0, ranks),
            Part("trump", (1,), "1: red"),
            Part("follows", (1,), "1: the colour led, or the lead"),
            Part("wins_now", (1,), "1: beats every card of the trick"),
            Part("beaters", (1,), "if so: unseen cards that could beat it in its colour", 0, cards),
            Part("trump_beaters", (1,), "if so: unseen cards that could beat it as trump", 0, cards),
            Part("wins_surely", (1,), "1: wins now, and nothing can beat it"),
            Part("win_is_wanted", (1,), "if it wins now: 1: the own bid needs it, -1: wants no more", -1),
            Part(
                "win_spoils", (1,), "if it wins now: 1: the seat now winning needs it, -1: wants no more", -1
            ),
            Part("gives_up_color", (1,), "1: loses the X-token of the led colour"),
            Part("placeable_lost", (1,), "other own cards that can no longer be placed", 0, most_placed),
            Part("slack", (1,), "(play, discard) `slack` after it", -tricks, most_placed),
            Part(
                "slack_without",
                (colors,),
                "(play, discard) `slack` after it, if the X-token of the colour is lost too",
                -tricks,
                most_placed,
            ),
            Part(
                "color_choices",
                (colors,),
                "(play, discard) cells of each colour that the hand may declare after it",
                0,
                ranks,
            ),
            Part(
                "other_slack",
                (players - 1,),
                "unseen cards that each other seat could place after it, minus that seat's plays to come",
                -tricks,
                cells,
            ),
            Part(
                "other_choices",
                (players - 1,),
                "cells that each other seat may declare after it with an unseen card",
                0,
                cells,
            ),
            Part("copies_left", (1,), "(play, discard) copies of the rank left in hand", 0, copies),
            Part(
                "beside_in_hand", (1,), "(play, discard) own cards of the rank below and above", 0, 2 * copies
            ),
            Part("unseen_copies", (1,), "(play, discard) unseen copies of the rank", 0, copies),
            Part("cells_left", (1,), "(play, discard) empty cells of the rank after it", 0, colors),
            Part("group_growth", (1,), "growth of the own largest group", 0, tricks),
            Part("own_beside", (1,), "own cells beside it", 0, 4),
            Part("group_room", (1,), "cells beside the own largest group for the hand after it", 0, cells),
            Part("others_beside", (1,), "cells of other seats beside it", 0, 4),
            Part("group_denied", (1,), "most it would have added to another seat's largest group", 0, tricks),
            Part("bid", (1,), "(bid) the bid", 0, highest, bidding),
            Part(
                "bid_over",
                (1,),
                "(bid) four times the bid minus `expected_tricks`",
                INT8_MIN,
                INT8_MAX,
                bidding,
            ),
            Part(
                "bid_total",
                (1,),
                "(bid) sum of the bids after it, minus the tricks",
                -tricks,
                players * highest,
                bidding,
            ),
        ]
    )


def make_features(game: Game) -> Features:
    """The features of Cat in the Box under the rules of ``game``."""
    return Features(game, feature_layout(game.rules), action_feature_layout(game.rules), write, VIEW)


@njit
def write_ranks(params, at, view, out):
    """Write the features by rank and by colour, and those of the hand."""
    ranks, stride = params.num_ranks, params.num_ranks + 1
    for rank in range(ranks):
        cells = view.open & (view.column << rank)
        own = popcount(cells & view.rows[0])
        out[at.unseen + rank] = view.unseen[rank]
        out[at.empty_cells + rank] = popcount(cells)
        out[at.own_cells + rank] = own
        out[at.placeable + rank] = min(own, view.hand[rank])
    out[at.placeable_total] = view.placeable[0]
    out[at.slack] = view.placeable[0] - view.plays
    threat = view.above[RED, 0] if (view.other_tokens >> RED) & 1 else 0
    sure = 0
    for color in range(params.num_colors):
        cells = (view.open >> (color * stride)) & ((1 << ranks) - 1)
        own = cells & (view.held >> (color * stride)) if (view.tokens[0] >> color) & 1 else 0
        contested = (view.other_tokens >> color) & 1
        masters = highest = 0
        for rank in range(ranks):
            if (cells >> rank) & 1:
                highest = rank + 1
            if (own >> rank) & 1 and not (contested and view.above[color, rank + 1] > 0):
                masters += 1
        out[at.color_cells + color] = popcount(cells)
        out[at.color_plays + color] = popcount(own)
        out[at.highest_cell + color] = highest
        out[at.masters + color] = masters
        if color == RED or threat == 0:
            sure += masters
    out[at.sure_leads] = sure
    out[at.trump_threat] = threat
    out[at.expected_tricks] = view.expected


@njit
def write_seats(params, at, view, out):
    """Write the features by seat."""
    stride = params.num_ranks + 1
    claimed = needed = 0
    for seat in range(params.num_players):
        cells = view.open & view.rows[seat]
        cards = 0
        for rank in range(params.num_ranks):
            if cells & (view.column << rank):
                cards += view.hand[rank] if seat == 0 else view.unseen[rank]
        room = neighbours(view.largest[seat], stride) & cells
        if seat == 0:
            room &= view.held
        out[at.tokens_left + seat] = popcount(view.tokens[seat])
        out[at.seat_cells + seat] = popcount(cells)
        out[at.seat_cards + seat] = cards
        out[at.group + seat] = view.largest_size[seat]
        out[at.group_room + seat] = popcount(room)
        out[at.needed + seat] = view.needed[seat]
        out[at.status + seat * NUM_STATUS + view.status[seat]] = 1
        claimed += max(0, view.bid[seat])
        if view.status[seat] == NEEDS:
            needed += view.needed[seat]
    if params.num_bids > 0:
        out[at.bid_total] = claimed - params.num_tricks
        out[at.demand] = needed - view.tricks_left


@njit
def write_trick(params, at, view, out):
    """Write the features of the current trick."""
    out[at.following] = view.following
    if view.best_seat == NONE:
        return
    color = view.best_color
    out[at.winning + view.best_seat] = 1
    out[at.winner_status + view.status[view.best_seat]] = 1
    out[at.best_rank] = view.best_rank + 1
    out[at.best_is_trump] = 1 if color == RED else 0
    out[at.beaters] = higher_cards(view, color, view.best_rank)
    out[at.trump_beaters] = trumping_cards(view, color)


@njit
def higher_cards(view, color, rank):
    """Unseen cards that a seat yet to play could declare in ``color`` above ``rank``."""
    return view.above[color, rank + 1] if (view.follow_tokens >> color) & 1 else 0


@njit
def trumping_cards(view, color):
    """Unseen cards that a seat yet to play could declare red against ``color``; 0 for red itself."""
    return view.above[RED, 0] if color != RED and (view.follow_tokens >> RED) & 1 else 0


@njit
def write_card(params, at, view, rank, out):
    """Write the card features of a play or a discard."""
    out[at.action_rank] = rank + 1
    out[at.action_copies_left] = max(0, view.hand[rank] - 1)
    beside = view.hand[rank - 1] if rank > 0 else 0
    out[at.action_beside_in_hand] = beside + (view.hand[rank + 1] if rank + 1 < params.num_ranks else 0)
    out[at.action_unseen_copies] = view.unseen[rank]


@njit
def write_discard(params, at, view, rank, out):
    """Write the features of discarding ``rank``."""
    write_card(params, at, view, rank, out)
    hand = view.hand[rank]
    rows = view.kept_rows[0]
    left = max(0, hand - 1)
    lost = placeable_cards(view, hand, rank, rows) - placeable_cards(view, left, rank, rows)
    out[at.action_slack] = view.placeable[0] - lost - view.plays
    out[at.action_cells_left] = popcount(view.open & (view.column << rank))
    write_choices(params, at, view, rank, left, view.open, 0, view.plays, out)


@njit
def write_choices(params, at, view, rank, left, cells, lost, plays, out):
    """Write, by colour, what the hand can place on the empty ``cells`` once it has ``left`` cards of ``rank``.

    ``lost``: 1 if the X-token of the led colour is lost; ``plays``: own plays to come.
    """
    stride = params.num_ranks + 1
    row, column = (1 << params.num_ranks) - 1, view.column << rank
    held = view.held if left > 0 else view.held & ~column
    choices = cells & view.kept_rows[lost] & held
    for color in range(params.num_colors):
        kept = view.kept_rows[lost] & ~(row << (color * stride))
        placed = view.without[lost, color] - placeable_cards(view, view.hand[rank], rank, kept)
        placed += min(left, popcount(cells & kept & column))
        out[at.action_slack_without + color] = placed - plays
        out[at.action_color_choices + color] = popcount(choices & (row << (color * stride)))


@njit
def write_bid(params, at, view, bid, out):
    """Write the features of the bid ``bid``."""
    others = 0
    for seat in range(1, params.num_players):
        others += max(0, view.bid[seat])
    out[at.action_bid] = bid
    out[at.action_bid_over] = clip_int8(QUARTERS * bid - view.expected)
    out[at.action_bid_total] = others + bid - params.num_tricks


@njit
def write_play(params, at, view, color, rank, out):
    """Write the features of declaring ``rank`` in ``color``."""
    write_card(params, at, view, rank, out)
    stride = params.num_ranks + 1
    here = 1 << (color * stride + rank)
    out[at.action_trump] = 1 if color == RED else 0
    led = view.led
    out[at.action_follows] = 1 if led == NONE or color == led else 0
    if strength(params, view, color, rank) > view.best_strength:
        higher, trumping = higher_cards(view, color, rank), trumping_cards(view, color)
        out[at.action_wins_now] = 1
        out[at.action_beaters] = higher
        out[at.action_trump_beaters] = trumping
        out[at.action_wins_surely] = 1 if higher + trumping == 0 else 0
        out[at.action_win_is_wanted] = wish(view.status[0])
        if view.best_seat > 0:
            out[at.action_win_spoils] = wish(view.status[view.best_seat])

    place = int(costs_token(view, 0, color))
    rows = view.kept_rows[place]
    left = max(0, view.hand[rank] - 1)
    placeable = view.placeable[place] - placeable_cards(view, view.hand[rank], rank, rows)
    placeable += placeable_cards(view, left, rank, rows & ~here)
    open_after = view.open & ~here
    out[at.action_gives_up_color] = place
    out[at.action_placeable_lost] = max(0, view.placeable[0] - 1 - placeable)
    out[at.action_slack] = placeable - max(0, view.plays - 1)
    out[at.action_cells_left] = popcount(open_after & (view.column << rank))

    beside = neighbours(here, stride)
    group, size = largest_group_with(view, here, stride)
    reach = view.held & rows & open_after
    if left == 0:
        reach &= ~(view.column << rank)
    out[at.action_group_growth] = size - view.largest_size[0]
    out[at.action_own_beside] = popcount(beside & view.owned[0])
    out[at.action_group_room] = popcount(neighbours(group, stride) & reach)
    write_choices(params, at, view, rank, left, open_after, place, max(0, view.plays - 1), out)
    for seat in range(1, params.num_players):
        # One cell fewer matters if the unseen cards of the rank needed all of them.
        cells = view.open & view.rows[seat] & (view.column << rank)
        needed = 1 if cells & here and popcount(cells) <= view.unseen[rank] else 0
        out[at.action_other_slack + seat - 1] = view.slack[seat] - needed
        out[at.action_other_choices + seat - 1] = popcount(view.reach[seat] & ~here)
    write_denied(params, at, view, color, beside, out)


@njit
def write_denied(params, at, view, color, beside, out):
    """Write what a cell of ``color`` with the neighbours ``beside`` denies the other seats."""
    others = denied = 0
    for seat in range(1, params.num_players):
        cells = popcount(view.owned[seat] & beside)
        others += cells
        if cells > 0 and (view.tokens[seat] >> color) & 1:
            size = 1
            for i in range(view.first_group[seat], view.first_group[seat + 1]):
                if view.groups[i] & beside:
                    size += view.sizes[i]
            denied = max(denied, size - view.largest_size[seat])
    out[at.action_others_beside] = min(4, others)
    out[at.action_group_denied] = denied


@njit
def wish(status):
    """The value of another trick for a seat of this status: 1 good, -1 bad, 0 neither."""
    return 1 if status == NEEDS else (-1 if status == EXACT else 0)


@njit
def write_actions(params, at, view, mask, action_out):
    """Write the features of the legal actions into ``action_out`` (A, K), all zeros. PARADOX has none."""
    ranks, first_play = params.num_ranks, params.first_play
    for rank in range(ranks):
        if mask[rank]:
            write_discard(params, at, view, rank, action_out[rank])
    for bid in range(params.num_bids):
        if mask[ranks + bid]:
            write_bid(params, at, view, params.bids[bid], action_out[ranks + bid])
    for action in range(first_play, params.num_actions - 1):
        if mask[action]:
            color, rank = cell_at(params, action - first_play)
            write_play(params, at, view, color, rank, action_out[action])


@njit(inline="always")
def write(params, at, seen, mask, view, out, action_out):
    """See `Features`; ``view`` is a record of `VIEW`."""
    read_view(params, seen, view)
    write_ranks(params, at, view, out)
    write_seats(params, at, view, out)
    write_trick(params, at, view, out)
    write_actions(params, at, view, mask, action_out)
