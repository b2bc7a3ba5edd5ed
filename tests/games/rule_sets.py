"""Hypothesis draws rule sets: of each game any that can be played, of every player count, with every option in play."""

from typing import Any

from hypothesis import strategies as st

from catbox_env.games.cat_in_the_box.rules import Rules as CatInTheBoxRules
from catbox_env.games.cat_te.rules import REGIONS
from catbox_env.games.cat_te.rules import Rules as CatTeRules
from catbox_env.games.petrify.rules import MOVE_RULES
from catbox_env.games.petrify.rules import Rules as PetrifyRules


@st.composite
def cat_in_the_box_rules(draw: st.DrawFn, max_rounds: int = 3) -> CatInTheBoxRules:
    players = draw(st.integers(2, 5))
    ranks, copies = draw(
        st.tuples(st.integers(1, 9), st.integers(1, 5)).filter(lambda deck: deck[0] * deck[1] >= 3 * players)
    )
    deck = ranks * copies
    hand_size = draw(st.integers(3, deck // players))
    tricks = hand_size - 2
    bids = draw(st.lists(st.integers(0, tricks), max_size=9, unique=True).map(lambda b: tuple(sorted(b))))
    return CatInTheBoxRules(
        num_players=players,
        num_ranks=ranks,
        num_colors=draw(st.integers(2, 4)),
        copies=copies,
        hand_size=hand_size,
        bids=bids,
        bonus_max_tricks=draw(st.integers(0, tricks)),
        revealed_cards=draw(st.integers(0, deck - players * hand_size)),
        rounds=draw(st.one_of(st.integers(1, max_rounds), st.just("match"))),
        start_player=draw(st.one_of(st.integers(0, players - 1), st.just("random"))),
    )


@st.composite
def cat_te_rules(draw: st.DrawFn, max_rounds: int = 3) -> CatTeRules:
    players = draw(st.integers(2, 6))
    return CatTeRules(
        num_players=players,
        region=draw(st.sampled_from(REGIONS)),
        offsuit_faceup=draw(st.booleans()),
        instant_wins=draw(st.booleans()),
        instant_wins_double=draw(st.booleans()),
        side_pot=draw(st.one_of(st.just(0), st.integers(1, 100))),
        rounds=draw(st.one_of(st.integers(1, max_rounds), st.just("match"))),
        dealer=draw(st.integers(-1, players - 1)),
    )


@st.composite
def petrify_rules(draw: st.DrawFn) -> PetrifyRules:
    players, size = draw(st.integers(2, 4)), draw(st.integers(3, 8))
    walls = draw(st.integers(0, size))
    left = size * size - walls - players
    teleports = draw(st.integers(0, left))
    zeros = draw(st.integers(0, left - teleports))
    wildcards = draw(st.integers(0, size * size - walls - teleports - zeros))
    return PetrifyRules(players, size, draw(st.sampled_from(MOVE_RULES)), teleports, walls, wildcards, zeros)


#: Of each game.
RULES: dict[str, st.SearchStrategy[Any]] = {
    "cat_in_the_box_v0": cat_in_the_box_rules(),
    "cat_te_v0": cat_te_rules(),
    "petrify_v0": petrify_rules(),
}
