"""The parts of the observation and of the state vector."""

from __future__ import annotations

from catbox_env.core.bits import INT8_MAX, INT8_MIN
from catbox_env.core.layout import Layout, Part
from catbox_env.games.cat_in_the_box.rules import PHASES, Rules


def observation_layout(rules: Rules) -> Layout:
    """The parts of an observation under ``rules``, without those that they do not need."""
    hand = Part("hand", (rules.num_ranks,), "own cards of each rank", 0, rules.copies)
    discarded = Part("discarded", (rules.num_ranks,), "own discard, one-hot; zeros: not made")
    return _layout(rules, hand, discarded)


def state_layout(rules: Rules) -> Layout:
    """The parts of the full state under ``rules``: like an observation, with the hands and discards of all seats."""
    by_seat = (rules.num_players, rules.num_ranks)
    hand = Part("hand", by_seat, "cards of each rank by seat", 0, rules.copies)
    discarded = Part("discarded", by_seat, "discard of each seat, one-hot")
    return _layout(rules, hand, discarded)


def _layout(rules: Rules, hand: Part, discarded: Part) -> Layout:
    """All parts in order: the two that differ between an observation and the state, and the public ones."""
    players, ranks, colors, bids = rules.num_players, rules.num_ranks, rules.num_colors, len(rules.bids)
    tricks = rules.num_tricks
    neutral, of_several_rounds = [], []
    if rules.revealed_cards:
        neutral = [Part("neutral", (colors, ranks), "neutral tokens on each cell", 0, rules.revealed_cards)]
    if rules.num_rounds > 1:
        of_several_rounds = [
            Part("scores", (players,), "points of the finished rounds", INT8_MIN, INT8_MAX),
            Part("rounds_left", (1,), "rounds after this one", 0, rules.num_rounds - 1),
        ]
    return Layout(
        [
            Part("phase", (len(PHASES),), "discard, bid, play: one-hot"),
            hand,
            discarded,
            Part("board", (colors, ranks, players), "owner of each cell, one-hot; zeros: empty or neutral"),
            *neutral,
            Part("x_tokens", (players, colors), "1: the seat may still declare the colour"),
            Part("bids", (players, bids), "bid of each seat, one-hot; zeros: not made"),
            Part("tricks_won", (players,), "tricks won in this round", 0, tricks),
            Part("led", (colors,), "led colour, one-hot; zeros: none"),
            Part("trick", (players, colors, ranks), "card of this trick by seat, one-hot; zeros: not played"),
            Part("leader", (players,), "who led or will lead this trick, one-hot"),
            Part("start_player", (players,), "who began this round, one-hot"),
            Part("to_move", (players,), "who is to move, one-hot; zeros: the game is over"),
            Part("trump_broken", (1,), "1: a player's token lies on red"),
            Part("tricks_left", (1,), "tricks not completed in this round", 0, tricks),
            *of_several_rounds,
            Part(
                "may_hold",
                (players, ranks),
                "1: by public knowledge, the seat's hand can still hold the rank; zeros only after a forced red lead",
            ),
        ]
    )


#: The names of all parts, in order: these rules need every one.
PARTS = tuple(observation_layout(Rules(num_players=2, rounds="match")))
