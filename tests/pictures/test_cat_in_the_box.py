"""What a picture of Cat in the Box tells: by its labels, which say what is drawn."""

from xml.etree import ElementTree

import numpy as np
import pytest

from catbox_env import GameState, make_game
from catbox_env.core.checks import PUBLIC
from catbox_env.games.cat_in_the_box.state import NONE, PLAY
from catbox_env.pictures.sheet import THEMES
from tests.cat_in_the_box.positions import play, start
from tests.pictures.checks import SVG, labels, labels_of, texts, words_of

HANDS = [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]]
TRICK = ("discard 5", "discard 5", "discard 5", "bid 1", "bid 0", "bid 2", "blue 3", "green 2", "red 1")


def table() -> GameState:
    return start(HANDS, num_ranks=6, bids=(0, 1, 2, 3))


def test_the_trick_says_which_card_wins_so_far_and_then_who_won_it() -> None:
    state = play(table(), *TRICK[:-1])
    assert "trick 1, blue led: player_0 blue 3, player_1 green 2; player_0 wins so far" in labels(state, 0)
    play(state, TRICK[-1])
    seen = "last trick, player_2 won: player_0 blue 3, player_1 green 2, player_2 red 1; player_2 won"
    assert seen in labels(state, 0)
    assert seen in labels(state)


def test_the_board_says_who_declared_what_and_whether_trump_is_broken() -> None:
    state = table()
    assert "red, trump, not broken: nothing declared" in labels(state, 1)
    play(state, *TRICK)
    assert {"red, trump, broken: 1 player_2", "blue: 3 player_0", "green: 2 player_1"} <= set(
        labels(state, 1)
    )


def test_the_players_say_tricks_bid_group_and_lost_x_tokens() -> None:
    state = play(table(), *TRICK)
    assert "player_1, you, 0 tricks won, bid 0, largest group 1, may declare red yellow green" in labels(
        state, 1
    )
    told = "player_2, to move, 1 tricks won, bid 2, 3 cards in hand, largest group 1, may declare red yellow green"
    assert told in labels(state, 1)
    told = (
        "player_0, 0 tricks won, bid 1, 3 cards in hand, largest group 1, may declare red blue yellow green"
    )
    assert told in labels(state, 1)


def test_own_largest_group_is_outlined_and_only_the_own_one() -> None:
    """Seat 0 has blue 3 and blue 4, side by side, seat 2 red 1 and red 2."""
    state = play(table(), *TRICK, "red 2, blue 4, yellow 1")
    seats = THEMES["light"].seats
    for seat in (0, 2):
        svg = state.game.render_svg(state, seat)
        grounds = [
            color
            for color in seats
            if f'z" fill="{color}"/>' in svg.split("<g role", 1)[1].split("red, trump")[0]
        ]
        assert grounds == [seats[seat]]
    svg = state.game.render_svg(state).split("red, trump")[0]
    assert seats[0] in svg
    assert seats[2] in svg


def test_the_result_is_the_sum_of_tricks_and_bonus_and_names_the_paradox() -> None:
    state = table()
    rng = np.random.default_rng(5)
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))
    found = [label for label in labels(state) if label.startswith("result")]
    infos = [state.info(seat) for seat in range(3)]
    assert len(found) == 1
    for seat, info in enumerate(infos):
        tricks = f"{info['tricks_won']} tricks, bid {info['bid']}, bonus {info['bonus']}"
        points = f"player_{seat} {info['score']} points, {tricks}"
        assert points in found[0]
    culprit = [f"player_{seat}'s paradox" for seat, info in enumerate(infos) if info["paradox"]]
    assert (culprit or ["no paradox"])[0] in found[0]


def test_a_large_picture_shows_the_trick_that_ended_a_round_with_the_paradox_as_a_card() -> None:
    rng, found = np.random.default_rng(0), set()
    for seed in range(200):
        state = make_game("cat_in_the_box_v0", num_players=3).new_initial_state(seed=seed)
        while not state.is_terminal():
            state.apply_action(int(rng.choice(state.legal_actions())))
        large = state.game.render_svg(state, 0, 1000)
        by = [seat for seat in range(3) if state.info(seat)["paradox"]]
        assert words_of(large).count("paradox") == len(by)
        assert "Result" not in words_of(large) + words_of(state.game.render_svg(state, None, 360))
        (trick,) = [label for label in labels_of(large) if label.startswith(("trick", "last trick"))]
        assert all(trick.endswith(f"player_{seat} caused a paradox") for seat in by)
        found.add(bool(state.record.led == NONE and by))  # by the leader or not
        if len(found) == 2:
            return
    raise AssertionError("no such ends")


@pytest.mark.parametrize("players", range(2, 6))
def test_a_large_picture_keeps_its_size_to_the_end_and_fewer_players_have_larger_cards(players: int) -> None:
    state = make_game("cat_in_the_box_v0", num_players=players).new_initial_state(seed=0)
    begun = ElementTree.fromstring(state.game.render_svg(state, 0, 1000))
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    for seat in (0, None):
        ended = ElementTree.fromstring(state.game.render_svg(state, seat, 1000))
        assert ended.attrib["viewBox"] == begun.attrib["viewBox"]
    cards = [card for card in begun.iter(f"{{{SVG}}}rect") if "stroke-dasharray" in card.attrib]
    assert len(cards) == players
    assert {float(card.attrib["width"]) + 1.5 for card in cards} == {{2: 96, 3: 94.67, 4: 68, 5: 52}[players]}


def test_whoever_is_to_move_reads_what_to_do_and_the_others_what_it_does() -> None:
    state = table()
    said = [("Put one card aside", "puts a card aside"), ("Bid: how many tricks will you win?", "bids")]
    said += [("Lead a card", "leads"), ("Follow blue or lose its X-token", "plays a card")]
    for actions, (do, does) in zip((TRICK[:0], TRICK[:3], TRICK[3:6], TRICK[6:7]), said, strict=True):
        play(state, *actions)
        mover = state.current_player
        assert do in texts(state, mover)
        for seat in (None, PUBLIC, (mover + 1) % 3):
            assert f"player_{mover} {does}" in texts(state, seat)


def test_rows_of_few_players_are_larger() -> None:
    sizes = []
    for players in (3, 5):
        state = make_game("cat_in_the_box_v0", num_players=players).new_initial_state(seed=0)
        names = [
            float(text.attrib["font-size"])
            for text in ElementTree.fromstring(state.game.render_svg(state, 0, 1000)).iter(f"{{{SVG}}}text")
            if text.text in ("player_1", "\u2013")
        ]
        sizes.append(names[:2])
    assert all(few > many for few, many in zip(*sizes, strict=True))


def test_before_a_bid_nothing_stands_in_its_place() -> None:
    state = make_game("cat_in_the_box_v0", num_players=3).new_initial_state(seed=0)
    assert texts(state, 0).count("\u2013") == 3
    while state.record.phase != PLAY:
        state.apply_action(state.legal_actions()[0])
    assert "\u2013" not in texts(state, 0)


def test_x_tokens_groups_and_the_lock_are_explained_to_whoever_points_at_them() -> None:
    state = make_game("cat_in_the_box_v0", num_players=3).new_initial_state(seed=0)
    titles = [
        one.text for one in ElementTree.fromstring(state.game.render_svg(state)).iter(f"{{{SVG}}}title")
    ]
    locked, may, bonus = (title for title in titles[1:] if title)
    assert locked.startswith("Red may not be led until somebody has played red")
    assert may.startswith("The colours that a player may still declare")
    assert bonus.endswith("but only for winning exactly the tricks bid.")
    play(started := table(), *TRICK)
    assert "Red may not be led" not in started.game.render_svg(started)


def test_the_area_of_a_card_is_as_round_as_the_card() -> None:
    state = make_game("cat_in_the_box_v0", num_players=3).new_initial_state(seed=0)
    while state.record.phase != PLAY:
        state.apply_action(state.legal_actions()[0])
    areas = ElementTree.fromstring(state.game.render_svg(state, state.current_player)).iter(f"{{{SVG}}}rect")
    assert {area.get("rx") for area in areas if "data-leads" in area.attrib} == {"6"}
