"""What a picture of Cat Te tells: by its labels, which say what is drawn."""

from xml.etree import ElementTree

import numpy as np
import pytest

from catbox_env import GameState, make_game
from catbox_env.core.checks import PUBLIC
from catbox_env.pictures.sheet import LARGER, PANEL
from tests.cat_te.positions import play, start
from tests.pictures.checks import SVG, labels, texts, words_of

HANDS = ["AS KS 2S 3C 4D 5H", "QS 9S 6C 7C 8D 9D", "JS 10S JC QC KC AC"]


def test_each_trick_says_who_played_what_who_folded_and_who_wins_it() -> None:
    state = play(start(HANDS), "KS, QS, fold JC", "AS, 9S")
    seen = labels(state, 1)
    assert "player_0: KS wins, AS wins" in seen
    assert "player_1, you: QS, 9S" in seen
    assert "player_2, dealer, to move: folded" in seen


def test_a_seat_sees_its_own_folds_and_nobody_elses() -> None:
    state = play(start(HANDS), "KS, fold 6C, fold JC")
    assert "player_1 holds 7C 8D 9D 9S QS" not in labels(state, 0)
    assert "player_2 holds QC KC AC 10S JS" in labels(state, 2)
    assert "player_2, you, dealer: folded JC" in labels(state, 2)
    assert {"player_1: folded 6C", "player_2, dealer: folded JC"} <= set(labels(state))
    assert not any("JC" in label for label in labels(state, 0))


def test_a_spectator_sees_no_hand_and_what_is_face_down_as_such() -> None:
    state = play(start(HANDS), "KS, fold 6C, fold JC")
    seen = texts(state, PUBLIC) + labels(state, PUBLIC)
    assert {"player_0, to move: KS wins", "player_1: folded", "Hands are hidden"} <= set(seen)
    assert {card for hand in HANDS for card in hand.split()} & set(" ".join(seen).split()) == {"KS"}
    assert "hand of" not in state.game.render_text(state, PUBLIC)


def test_cards_to_play_and_to_fold_are_buttons_of_the_seat_to_move() -> None:
    state = play(start(HANDS), "KS")
    names = {state.game.action_to_string(action) for action in state.legal_actions()}
    assert {"play QS", "fold QS", "fold 6C"} <= names
    assert names <= set(labels(state, 1))
    assert not names & set(labels(state, 0))
    assert "player_1 follows spades or folds" in texts(state, 0)


def test_whoever_has_no_card_of_the_led_suit_is_told_so_and_nobody_else_is() -> None:
    state = play(start(HANDS), "4D, 8D")
    assert "play JS" in {state.game.action_to_string(action) for action in state.legal_actions()}
    assert "Play or fold any card" in texts(state, 2)
    assert "You have no diamonds: no card of yours can win." in texts(state, 2)
    assert "You have no diamonds: no card of yours can win." in " ".join(
        words_of(state.game.render_svg(state, 2, 1000))
    )
    assert "player_2 plays or folds" in texts(state)
    assert "player_2 follows diamonds or folds" in texts(state, 0)
    assert not any("no diamonds" in text for text in texts(state, 0))


def test_the_hand_says_that_a_trick_is_needed_until_one_is_won() -> None:
    state = start(HANDS)
    assert "Win one of the first four tricks or you're out." in texts(state, 0)
    play(state, "KS, QS, fold JC")
    for left in ("one of the next 3", "one of the next 2", "this one"):
        needed = f"No trick yet: win {left} or you're out."
        assert needed not in texts(state, 0)
        assert needed in texts(state, 1)
        play(
            state,
            *{"one of the next 3": ["AS, 9S, 10S"], "one of the next 2": ["2S, fold 6C, fold QC"]}.get(
                left, []
            ),
        )


def test_own_folded_cards_are_listed_if_the_past_is_not_known() -> None:
    state = play(start(HANDS), "KS, QS, fold JC")
    assert not any(text.startswith("folded") for text in texts(state, 2))
    forgotten = state.game.sample_state(state.observation(2), seed=0)
    assert "folded JC" in [text.replace("\u2663", "C") for text in texts(forgotten, 2)]
    assert not any(text.startswith("folded") for text in texts(forgotten, 1))


def test_a_large_picture_has_the_hand_below_the_tricks_and_at_the_end_all_hands() -> None:
    state = play(start(HANDS), "KS, QS")
    assert _columns(state, 2) == {"tricks": 0, "hand": 0}
    assert _columns(state, None) == {"tricks": 0, "hand": 0, "hands": 1}
    rng = np.random.default_rng(0)
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))
    assert _columns(state, None) == {"tricks": 0, "hands": 0}


@pytest.mark.parametrize("players", range(2, 7))
def test_a_large_picture_is_as_high_as_a_window_for_every_number_of_players(players: int) -> None:
    state = make_game("cat_te_v0", num_players=players).new_initial_state(seed=0)
    root = ElementTree.fromstring(state.game.render_svg(state, 0, 1000))
    height = root.attrib["height"]
    assert 630 <= int(height) <= 760
    places = [place for place in root.iter(f"{{{SVG}}}rect") if "stroke-dasharray" in place.attrib]
    assert {float(place.attrib["width"]) + 1 for place in places} == {{4: 37, 5: 29, 6: 23}.get(players, 46)}
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    assert ElementTree.fromstring(state.game.render_svg(state, None, 1000)).attrib["height"] == height, (
        "at the end"
    )


def test_at_the_end_of_a_large_picture_the_hands_are_as_wide_as_there_is_room() -> None:
    state, rng = make_game("cat_te_v0", num_players=2).new_initial_state(seed=3), np.random.default_rng(3)
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))
    root = ElementTree.fromstring(state.game.render_svg(state, None, 1000))
    (hands,) = [part[0] for part in root if len(part) and part[0].get("aria-label") == "hands"]
    cards = [box for box in hands.iter(f"{{{SVG}}}rect") if box.get("rx") == "5"]
    assert max(float(card.attrib["width"]) for card in cards) > 40


def test_the_end_says_how_the_round_was_won() -> None:
    state = play(start(HANDS), "KS, QS, fold JC", "AS, 9S, fold QC", "2S, fold 6C, 10S")
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    winner = state.returns().index(max(state.returns()))
    (trick,) = [text for text in texts(state, 1) if text.startswith(f"player_{winner} won trick 6: ")]
    assert f"{trick.rpartition(' ')[2]} wins" in str(labels(state, 1))
    swept = play(start(["AS KS QS JS 2C 3D", "4S 5S 6S 7S 9C 3C"]), "AS, 4S", "KS, 5S", "QS, 6S", "JS, 7S")
    assert "player_0 won all four tricks" in texts(swept, 1)


def _columns(state: GameState, seat: int | None) -> dict[str, int]:
    """The column of each panel of a large picture."""
    root = ElementTree.fromstring(state.game.render_svg(state, seat, 1000))
    panels = {label: part for part in root if (label := part[0].get("aria-label") if len(part) else None)}
    places = {label: str(panel.get("transform")) for label, panel in panels.items()}
    return {label: int(float(place[10:].split()[0]) > LARGER * PANEL) for label, place in places.items()}


def test_the_progress_of_a_match_leaves_room_for_the_title() -> None:
    one, match = (make_game("cat_te_v0", rounds=rounds).new_initial_state(seed=0) for rounds in (1, 2))
    assert "trick 1 of 6, the last one pays" in texts(one)
    assert "round 1 of 2 \u00b7 trick 1 of 6" in texts(match)


@pytest.mark.parametrize("seed", range(8))
def test_at_the_end_all_folded_cards_are_turned_up_in_the_trick_in_which_they_were_folded(seed: int) -> None:
    state, rng = make_game("cat_te_v0", rounds=2).new_initial_state(seed=seed), np.random.default_rng(seed)
    folds: dict[int, list[str]] = {}
    while not state.is_terminal():
        seat, action = state.current_player, int(rng.choice(state.legal_actions()))
        words = state.game.action_to_string(action)
        folds.setdefault(seat, []).extend(
            [words.replace("fold ", "folded ")] if words.startswith("fold ") else []
        )
        state.apply_action(action)
        if state.round_ended and not state.is_terminal():
            folds = {}
    rows = [label for label in labels(state) if label.startswith("player_") and "holds" not in label]
    for seat, cards in folds.items():
        (row,) = [row for row in rows if row.startswith(f"player_{seat}") and ": " in row]
        assert [part for part in row.split(": ")[1].split(", ") if part.startswith("folded")] == cards


def test_a_card_that_is_chosen_blind_is_shown_to_its_owner_alone() -> None:
    hands = ["AS 2C 3C 4D 5D 6H", "KS AC 7D 8D 9D 10H", "QS KC AD QD JD KH"]
    state = play(start(hands), "AS, KS, QS", "2C, AC, KC", "7D, AD, 4D", "QD, 5D, 8D", "JD, 6H")
    assert "player_0, you: AS wins, 2C, 4D, 5D, chosen 6H" in labels(state, 0)
    assert "player_0: AS wins, 2C, 4D, 5D, face down" in labels(state, 1)
    assert "player_0: AS wins, 2C, 4D, 5D, chosen 6H" in labels(state)
    assert not any("6H" in label for label in labels(state, 1) + labels(state, 2))
    assert "player_1 chooses, diamonds led" in texts(state, 2)


def test_the_side_pot_and_the_scores_are_told() -> None:
    state = start(["AS KS QS JS 2C 3D", "4S 5S 6S AD 9C 3C"], upturned="KD", side_pot=3, rounds=2)
    assert "Side pot 6, not claimed; upturned KD" in labels(state, 0)
    play(state, "AS, claim")
    assert "Side pot 6, claimed by player_1; upturned KD" in labels(state, 0)
    assert "player_1 claimed the side pot." in texts(state, 0)
    assert not any("antes won" in label for label in labels(state, 0)), "nobody has won or lost one"


def test_a_shown_hand_wins_and_the_winner_is_named() -> None:
    state = start(["AS KS QS JS 10S 9S", "4S 5H 6S AD 9C 3C"])
    assert "show" in labels(state, 0)
    play(state, "show")
    told = {"player_0 wins", "player_0 showed an instant win.", "player_0 showed an instant win"}
    assert told <= set(texts(state, 1))
    assert "antes won: player_0 1, player_1 -1" in labels(state, 1)
