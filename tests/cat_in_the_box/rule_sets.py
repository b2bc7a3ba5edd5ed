"""Hypothesis draws rule sets of Cat in the Box: any combination that can be dealt."""

from hypothesis import strategies as st

from catbox_env.games.cat_in_the_box.rules import Rules


@st.composite
def rule_sets(draw: st.DrawFn, max_rounds: int = 3) -> Rules:
    """A valid ``Rules``, of every player count, with every option in play."""
    players = draw(st.integers(2, 5))
    ranks, copies = draw(
        st.tuples(st.integers(1, 9), st.integers(1, 5)).filter(lambda deck: deck[0] * deck[1] >= 3 * players)
    )
    deck = ranks * copies
    hand_size = draw(st.integers(3, deck // players))
    tricks = hand_size - 2
    bids = draw(st.lists(st.integers(0, tricks), max_size=9, unique=True).map(lambda b: tuple(sorted(b))))
    return Rules(
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
