"""Hypothesis draws rule sets of Cat Te: any combination that can be played."""

from hypothesis import strategies as st

from catbox_env.games.cat_te.rules import REGIONS, Rules


@st.composite
def cat_te_rule_sets(draw: st.DrawFn, max_rounds: int = 3) -> Rules:
    """A valid ``Rules``, of every player count and region, with every option in play."""
    players = draw(st.integers(2, 6))
    return Rules(
        num_players=players,
        region=draw(st.sampled_from(REGIONS)),
        offsuit_faceup=draw(st.booleans()),
        instant_wins=draw(st.booleans()),
        instant_wins_double=draw(st.booleans()),
        side_pot=draw(st.one_of(st.just(0), st.integers(1, 100))),
        rounds=draw(st.one_of(st.integers(1, max_rounds), st.just("match"))),
        dealer=draw(st.integers(-1, players - 1)),
    )
