"""Advice in a game on a real table: every request holds the whole game, and is answered with what its seat sees."""

from __future__ import annotations

from typing import Any

import pytest

from catbox_app.web import advised
from catbox_app.web.tables import Tables
from catbox_env import make_game
from tests.app.real_game import told
from tests.app.web.page import Page

GAMES: list[tuple[str, int, dict[str, Any]]] = [
    ("cat_in_the_box_v0", 2, {"rounds": 2}),
    ("cat_te_v0", 3, {"rounds": 2, "side_pot": 1}),
    ("cat_te_v0", 4, {"region": "khmer"}),
    ("petrify_v0", 3, {}),
]
BEGINNING = ["discard 1", "bid 2", "2", "3", "blue 4"]
ASKED: dict[str, Any] = {
    "game": "cat_in_the_box_v0", "players": 3, "seat": 0, "deal": "1 1 2 2 3 3 4 5 6 6", "lines": BEGINNING,
    "number": None,
}  # fmt: skip


def advise(page: Page, **values: Any) -> list[dict[str, Any]]:
    """Send a request, and do what is due; what was answered."""
    before = len(page.told)
    page.send("advise", **{**ASKED, **values})
    page.tables.run_due()
    return page.told[before:]


@pytest.mark.parametrize(("game_id", "players", "rules"), GAMES)
def test_a_whole_match_is_followed_in_every_game(game_id: str, players: int, rules: dict[str, Any]) -> None:
    game, page, seat = make_game(game_id, num_players=players, **rules), Page(Tables()), 1
    deal, lines, true = told(
        game, seat, 4, lambda legal: legal[-1] if len(legal) < 9 else legal[len(legal) // 3]
    )
    about = {"game": game_id, "players": players, "rules": rules, "seat": seat, "deal": deal}
    waits = set()
    for number in range(len(lines) + 1):
        answer = advise(page, **about, lines=lines[:number], number=number - 1 if number else None)
        assert answer[-1]["type"] == "position", answer[-1]
        assert answer[-1]["number"] == number
        waits.add(answer[-1]["waits_for"])
        if answer[-1]["waits_for"] in ("you", "entry") and number < len(lines) and lines[number]:
            offered = [one["action"] for one in answer[-1]["legal"]]
            assert answer[-1]["waits_for"] == "entry" or int(lines[number][1:]) in offered
    assert waits == {"you", "entry", "over"} | ({"deal"} if "rounds" in rules else set())
    if game_id == "cat_in_the_box_v0":  # what the seat sees at the end does not depend on the others' cards
        assert answer[-1]["svg"] == game.render_svg(true, seat)
    assert "advise" in {message.get("mode") for message in page.told}


def test_the_estimates_of_the_own_actions_follow_the_position() -> None:
    page = Page(Tables())
    page.send("coach", shows="points")
    advise(page, lines=BEGINNING[:1])
    page.tables.run_due()
    told_by_coach = page.last("coach")
    assert told_by_coach["number"] == 1
    assert {one["action"] for one in told_by_coach["values"]} == {
        one["action"] for one in page.position["legal"]
    }
    page.told.clear()
    advise(page)
    page.tables.run_due()
    assert not page.all("coach")  # another seat is to move
    page.send("view", theme="dark", size=360)
    assert page.position["number"] == len(BEGINNING)


def test_an_impossible_line_is_refused_with_the_rule_and_nothing_is_lost() -> None:
    page = Page(Tables())
    advise(page)
    [answer] = advise(page, lines=[*BEGINNING, "blue 4"], number=5)
    assert answer["type"] == "refused"
    assert "blue 4 is taken on the research board by a token of seat 0" in answer["text"]
    *events, position = advise(page, lines=[*BEGINNING, "blue 5"], number=5)
    assert [message["number"] for message in events] == [6]
    assert position["number"] == 6


def test_what_can_only_be_face_down_is_not_asked_for() -> None:
    page = Page(Tables())
    *events, position = advise(page, lines=["discard 1"], number=0)
    told = [line["text"].partition(" (")[0] for message in events for line in message["lines"]]
    assert told == ["player_0", "player_1", "player_2"]
    assert (position["waits_for"], position["number"]) == ("you", 1)
    beginning, position = advise(page, lines=[], seat=2)[-2:]
    assert [line["seat"] for line in beginning["lines"]] == [0, 1]
    assert (position["waits_for"], position["number"]) == ("you", 0)
    assert advise(page, lines=[*BEGINNING, ""])[-1]["type"] == "refused"


def test_a_card_that_may_be_face_down_can_be_entered_so() -> None:
    deal, lines, _ = told(make_game("cat_te_v0", num_players=3), 0, 4, min)
    about = {"game": "cat_te_v0", "deal": deal, "lines": lines[:1]}
    position = advise(Page(Tables()), **about)[-1]
    assert position["waits_for"] == "entry"
    assert position["legal"][0] == {"action": -1, "text": "Face down"}


def test_the_winner_and_the_cards_of_a_round_are_asked_for() -> None:
    game, page = make_game("cat_te_v0", num_players=2, rounds=2), Page(Tables())
    deal, lines, _ = told(game, 0, 4, min)
    end = next(k for k, line in enumerate(lines) if line and not line.startswith("#"))
    about = {"game": "cat_te_v0", "players": 2, "rules": {"rounds": 2}, "deal": deal}
    asked = advise(page, **about, lines=lines[:end])[-1]
    assert (asked["waits_for"], asked["question"], asked["legal"]) == (
        "deal",
        "the seat that won the round",
        [],
    )
    assert advise(page, **about, lines=lines[: end + 1])[-1]["question"] == "your new cards"
    assert (
        "enter your 6 cards: these are 2"
        in advise(page, **about, lines=[*lines[: end + 1], "2C 3C"])[-1]["text"]
    )
    assert "from 0 to 1" in advise(page, **about, lines=[*lines[:end], "2"])[-1]["text"]


@pytest.mark.parametrize(
    ("about", "cards", "copies", "sizes"),
    [
        ({"game": "cat_in_the_box_v0", "players": 3, "rules": {"num_ranks": 7}}, list("1234567"), 5, [11, 0]),
        ({"game": "cat_in_the_box_v0", "players": 2}, list("12345"), 5, [10, 3]),
        ({"game": "cat_te_v0", "players": 4}, 52, 1, [6, 0]),
        ({"game": "petrify_v0", "players": 2, "rules": {"size": 5, "walls": 2, "zeros": 1}}, 18, 25, [25, 0]),
    ],
)  # fmt: skip
def test_the_cards_are_those_of_the_chosen_rules(
    about: dict[str, Any], cards: list[str] | int, copies: int, sizes: list[int]
) -> None:
    page = Page(Tables())
    page.send("cards", **about)
    told = page.last("cards")
    assert (len(told["cards"]) if isinstance(cards, int) else told["cards"]) == cards
    assert (told["copies"], told["sizes"]) == (copies, sizes)
    page.send("cards", **{**about, "players": 99})
    assert "num_players" in page.last("failed")["text"]


def test_lines_that_take_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advised, "LONGEST_WAIT", -1.0)
    assert "the most allowed here" in advise(Page(Tables()))[-1]["text"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"deal": "1 1 1 1 1 1 2 2 2 2"}, "rank 1 occurs 6 times"),
        ({"deal": "1 2"}, "enter your 10 cards: these are 2"),
        ({"deal": "/"}, "enter your 10 cards: these are 0"),
        ({"deal": ""}, "deal="),
        ({"deal": "9" * 3000}, "expected a text of 1 to 2000 characters"),
        ({"seat": 3}, "seat=3"),
        ({"rules": {"start_player": "random"}}, "say who starts"),
        ({"lines": "discard 1"}, "lines="),
        ({"lines": [7]}, "line=7"),
        ({"lines": [""] * 1000}, "expected a list of at most"),
        ({"lines": ["fly"]}, "not understood"),
        ({"lines": ["#99999"]}, "99999"),
        ({"number": "all"}, "number="),
        ({"game": "petrify_v0", "players": 2, "deal": "1.1@0 W"}, "expected @0, @1 after the tiles"),
        ({"game": "petrify_v0", "players": 2, "deal": "1.1@0 2.2@1"}, "expected 4 rows of 4"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_and_the_page_can_go_on(values: dict[str, Any], words: str) -> None:
    page = Page(Tables())
    answer = advise(page, **values)
    assert [one["type"] in ("refused", "failed") for one in answer] == [True]
    assert words in answer[0]["text"]
    assert advise(page)[-1]["type"] == "position"
