"""The events of Cat in the Box: what is told of an action, to whom, and that every sum is right."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import catbox_env
from catbox_env.games.cat_in_the_box.rules import COLORS, Rules
from catbox_env.games.cat_in_the_box.show import a_card
from tests.cat_in_the_box.positions import play, start
from tests.core.events import checked_rounds, laid_open, of_kind, steps, texts, told
from tests.games.rule_sets import RULES


def move(state: Any, name: str) -> int:
    return state.game.string_to_action(name)


def started(**options: Any) -> Any:
    """Three players with two 1s, 2s and 3s each, after discards of 1, 2, 3 and bids of 1."""
    hands = [[1, 1, 2, 2, 3], [1, 2, 2, 3, 3], [1, 1, 2, 3, 3]]
    return play(
        start(hands, num_ranks=3, bids=(0, 1, 2), **options),
        "discard 1, discard 2, discard 3, bid 1, bid 1, bid 1",
    )


# What is told ------------------------------------------------------------------------------------------------------


def test_a_discard_is_told_to_its_own_seat_alone() -> None:
    state = started()
    state = state.game.new_initial_state(deal={"hands": [[1, 1, 2, 2, 3], [1, 2, 2, 3, 3], [1, 1, 2, 3, 3]]})
    discard = move(state, "discard 2")
    assert texts(state, discard) == texts(state, discard, seat=0) == ["player_0 puts a 2 aside"]
    assert texts(state, discard, seat=1) == texts(state, discard, seat=2) == ["player_0 puts a card aside"]


def test_bids_leads_and_plays_are_told() -> None:
    state = started()
    assert texts(state, move(state, "play blue 2")) == ["player_0 leads blue 2"]
    play(state, "blue 2")
    assert texts(state, move(state, "play blue 3")) == ["player_1 plays blue 3"]


def test_trump_that_is_broken_and_a_token_that_is_lost_are_told_once() -> None:
    state = play(started(), "blue 2")
    assert texts(state, move(state, "play red 2")) == [
        "player_1 plays red 2",
        "player_1 breaks trump: from now on red may be led",
        "player_1 does not follow blue, and loses the blue X-token",
    ]
    play(state, "red 2", "red 1")
    assert state.current_player == 1
    play(state, "yellow 1", "yellow 2")
    # Seat 0 has not lost its yellow token, and red was played before.
    assert texts(state, move(state, "play red 3"))[:2] == [
        "player_0 plays red 3",
        "player_0 does not follow yellow, and loses the yellow X-token",
    ]
    play(state, "red 3", "blue 1")
    assert texts(state, move(state, "play green 3")) == ["player_1 plays green 3"], "it was lost before"


@pytest.mark.parametrize(
    ("cards", "said"),
    [
        (
            ("blue 2", "blue 3", "blue 1"),
            "player_1 wins trick 1: blue 3 is the highest card of the led colour",
        ),
        (
            ("blue 2", "green 3", "green 1"),
            "player_0 wins trick 1: blue 2 is the only card of the led colour",
        ),
        (("blue 2", "red 3", "blue 3"), "player_1 wins trick 1: red 3 is the only red card"),
        (("blue 2", "red 2", "red 3"), "player_2 wins trick 1: red 3 is the highest red card"),
    ],
)
def test_a_trick_is_told_with_its_winner_and_why(cards: tuple[str, ...], said: str) -> None:
    state = play(started(), *cards[:-1])
    after = copy.deepcopy(state)
    last = move(state, f"play {cards[-1]}")
    after.apply_action(last)
    (won,) = of_kind(state.game.events(state, last, after), "trick_won")
    assert won.text == said + ("" if "red" in said else ", as nobody played red")
    assert [f"{card['color']} {card['rank']}" for card in won.data["cards"]] == list(cards)
    assert [card["seat"] for card in won.data["cards"]] == [0, 1, 2]


def test_a_paradox_is_told_with_every_card_and_why_no_colour_is_left() -> None:
    state = start([[1, 1, 1, 2], [1, 2, 2, 3]], num_ranks=3, num_colors=3, bids=(0, 1, 2), revealed=(1,))
    play(state, "discard 2", "discard 3", "bid 1", "bid 1", "blue 1, red 1")
    lead = move(state, "play red 2")
    why = "a 1 has no colour left: red taken by player_1, blue taken by player_0, yellow taken by a neutral token"
    assert texts(state, lead, seat=0) == [
        "player_1 leads red 2",
        "player_0 has no legal declaration left and must declare a paradox",
    ]
    assert texts(state, lead, seat=1) == texts(state, lead) == ["player_1 leads red 2"]
    state.apply_action(lead)
    for seat in (None, 0, 1):
        assert texts(state, move(state, "paradox"), seat) == [
            "player_0 causes a paradox, and the round ends",
            why,
            "player_0's paradox ends the round",
            "player_0: 0 (0 tricks, each -1 after the paradox)",
            "player_1: 1 trick + 2 (hit the bid of 1, group of 2) = 3",
            "player_0 still held 1 1, and had put a 2 aside",
            "player_1 still held 2, and had put a 3 aside",
            "player_1 wins with 3 points",
        ]


def test_the_reasons_of_a_paradox_are_those_of_the_board() -> None:
    """In random games: a card of the hand, and nothing else, is named; a reason holds for every colour of it."""
    seen = 0
    for seed in range(40):
        game = catbox_env.make_game("cat_in_the_box_v0", num_players=2 + seed % 4, rounds=2)
        for step in steps(game, seed):
            before, action, _ = step
            if action != game.rules.paradox:
                assert not of_kind(told(step), "paradox", "paradox_card", "paradox_due")
                continue
            seen += 1
            seat = before.current_player
            (paradox,) = of_kind(told(step), "paradox")
            cards = of_kind(told(step), "paradox_card")
            held = [rank + 1 for rank in np.flatnonzero(before.record.hand[seat])]
            assert paradox.seat == seat
            assert paradox.data["ranks"] == held == [card.data["rank"] for card in cards]
            for card in cards:
                assert list(card.data["colors"]) == list(COLORS)
                for color, reason in enumerate(card.data["colors"].values()):
                    owner = before.record.board[color, card.data["rank"] - 1]
                    if reason["why"] == "taken":
                        assert owner != -1
                        assert reason["owner"] == (None if owner == -2 else owner)
                    else:
                        assert reason["why"] == "token lost"
                        assert not before.record.x_tokens[seat, color]
    assert seen > 20


# Sums --------------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(rules=RULES["cat_in_the_box_v0"], seed=st.integers(0, 2**31))
def test_the_sums_of_every_round_are_right(rules: Rules, seed: int) -> None:
    """In random games of random rule sets."""
    game = catbox_env.make_game("cat_in_the_box_v0", rules=rules)
    for step, events in checked_rounds(game, seed):
        before, _, after = step
        for seat, event in enumerate(of_kind(events, "score")):
            info = after.info(seat)
            assert event.data["tricks"] == info["tricks_won"]
            assert event.data["paradox"] == bool(info["paradox"])
            if info["bonus"]:
                assert f"group of {info['bonus']}" in event.text
                assert event.data["hit"]
        check_hands(before, step)
        if not after.is_terminal():
            (begin,) = of_kind(events, "round_begin")
            assert begin.seat == after.record.start_player


def check_hands(before: Any, step: Any) -> None:
    """The cards that are laid open are those of the round that has ended."""
    ranks = before.game.rules.num_ranks
    cards = laid_open(told(step))
    for seat in range(before.game.num_players):
        held = before.record.hand[seat, :ranks].copy()
        action = step[1]
        if seat == before.current_player and action != before.game.rules.paradox:
            held[(action - before.game.rules.first_play) % ranks] -= 1
        assert cards[seat]["ranks"] == [rank + 1 for rank in range(ranks) for _ in range(held[rank])]
        assert cards[seat]["discard"] == before.record.discarded[seat] + 1


def test_the_example_of_a_sum() -> None:
    state = start([[1, 1, 2, 2, 3, 5, 5], [3, 3, 4, 4, 4, 5, 5]], bids=(0, 1, 2, 3, 4, 5))
    play(state, "discard 5", "discard 3", "bid 1", "bid 0")
    play(state, "yellow 1, yellow 4", "blue 4, blue 2", "blue 5, blue 3", "green 4, red 1", "red 2")
    assert texts(state, move(state, "play red 5"))[2:] == [
        "the round ends as everybody has one card left",
        "player_0: 1 trick + 4 (hit the bid of 1, group of 4) = 5",
        "player_1: 4 tricks (missed the bid of 0) = 4",
        "player_0 still held 5, and had put a 5 aside",
        "player_1 still held 3, and had put a 3 aside",
        "player_0 wins with 5 points",
    ]


def test_equal_points_go_to_the_last_round_or_are_shared() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", rules=dataclasses.replace(Rules.tiny(), rounds=2))
    found = set()
    for seed in range(200):
        *_, last = steps(game, seed)
        (end,) = of_kind(told(last), "game_end")
        totals, latest = end.data["totals"], end.data["last_round"]
        is_tied, is_shared = totals[0] == totals[1], totals[0] == totals[1] and latest[0] == latest[1]
        winner = int(np.argmax(latest if is_tied else totals))
        points = f"{max(totals)} point{'' if abs(max(totals)) == 1 else 's'}"
        text = f"player_{winner} wins with {points}"
        if is_tied:
            text += f": player_{1 - winner} has as many, but fewer in the last round"
        if is_shared:
            text = f"player_0 and player_1 share the win with {points} each"
        assert (end.text, end.seat) == (text, None if is_shared else winner)
        found.add((is_tied, is_shared))
    assert found == {(True, True), (True, False), (False, False)}


def test_a_card_has_its_article() -> None:
    assert [a_card(rank) for rank in (0, 7, 8)] == ["a 1", "an 8", "a 9"]


def test_an_eight_that_has_no_colour_left_has_its_article() -> None:
    said = set()
    for seed in range(60):
        rng, state = (
            np.random.default_rng(seed),
            catbox_env.make_game("cat_in_the_box_v0").new_initial_state(seed),
        )
        while not state.is_terminal():
            before, action = copy.deepcopy(state), int(rng.choice(state.legal_actions()))
            state.apply_action(action)
        said |= {event.text.split(" has ")[0] for event in state.game.events(before, action, state)
                 if event.kind == "paradox_card"}  # fmt: skip
    assert said >= {"a 7", "an 8"}
