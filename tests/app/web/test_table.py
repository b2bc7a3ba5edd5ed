"""A table: turns, agents at their pace, taking back, new deals, people who come and go."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

import catbox_env
from catbox_agents import Agent
from catbox_app.web import STATIC
from catbox_app.web.table import CATS
from catbox_app.web.tables import MAX_OF_A_PAGE, Tables
from catbox_env.core.state import last_position
from tests.app.web.page import TINY, Clock, Page


class Broken(Agent):
    """Raises an error whenever it is to move."""

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        raise RuntimeError("out of ideas")


BROKEN = f"{__name__}:{Broken.__name__}"


@pytest.fixture
def page() -> Page:
    return Page(Tables(clock=Clock(), also=[BROKEN]))


@pytest.mark.parametrize("game", catbox_env.GAMES)
def test_a_person_plays_a_whole_game_against_agents(page: Page, game: str) -> None:
    page.sit("easy", "person", game=game, seed=3)
    joined = page.last("joined")
    assert (joined["seat"], joined["seed"], joined["names"]) == (1, 3, ["easy", "you"])
    page.play()
    lines = [line for message in page.all("events") for line in message["lines"]]
    assert any(line["text"].startswith("player_0 (easy)") and line["seat"] == 0 for line in lines)
    assert "game_end" in {line["kind"] for line in lines}
    numbers = [message["number"] for message in page.all("events")]
    assert numbers == list(range(1, page.position["number"] + 1))
    (table,) = page.tables
    assert page.position["rounds"] == table.match.rounds
    assert sorted(page.position["places"]) in ([1, 2], [1, 1])
    assert page.position["place"] in ("You win", "You share the win", "You lose")
    assert page.position["svg"] == table.game.render_svg(table.match.state, None, 720, "light")
    assert page.position["to_move"] == -1
    assert page.last("ended")["seed"] == 3
    assert not page.all("failed")
    assert not page.all("refused")


def test_an_illegal_action_and_one_for_an_older_position_are_refused(page: Page) -> None:
    page.sit("person", "random", seed=0)
    legal = [one["action"] for one in page.position["legal"]]
    illegal = next(action for action in range(100) if action not in legal)
    before = page.position
    (answer,) = page.send("act", action=illegal, number=0)
    assert answer["type"] == "refused"
    assert answer["text"].startswith("Not possible: ")
    assert page.position == before
    page.act()
    page.play(5)
    shown, answer = page.send("act", action=0, number=0)
    assert (shown["type"], answer["type"]) == ("position", "refused")


def test_agents_wait_their_pace_and_for_somebody_to_sit_there() -> None:
    clock = Clock()
    tables = Tables(clock=clock)
    page = Page(tables)
    page.open("random", "person", pace=2)
    assert tables.seconds_to_wait() is None
    page.send("join", seat_key=page.last("opened")["seats"][1]["key"])
    assert tables.seconds_to_wait() == 2
    assert tables.due() == []
    clock.now += 2
    tables.run_due()
    assert page.position["number"] == 1
    page.send("pace", seconds=0.5)
    assert page.position["waits_for"] == "you"
    page.act()
    assert tables.seconds_to_wait() == 0.5
    page.connection.close()
    assert tables.seconds_to_wait() is None


def test_the_last_board_of_a_round_is_shown_while_agents_wait() -> None:
    clock = Clock()
    tables = Tables(clock=clock)
    page = Page(tables)
    page.sit("person", "random", seed=2, pace=3, rules={**TINY, "rounds": 2})
    (table,) = tables
    while not table.match.state.round_ended:
        assert page.position["ended"] is None
        clock.now += 3
        page.play(1)
    assert page.position["waits_for"] == "agent"
    board = last_position(table.match.states[-2], table.match.actions[-1], table.match.state)
    svg = table.game.render_svg(board, 0)
    assert page.position["ended"] == {"svg": svg, "seconds": 14}
    assert "The round is over." in svg, "nobody has won the game"
    scores = [line["data"]["score"] for line in page.last("events")["lines"] if line["kind"] == "score"]
    assert scores == page.position["rounds"][0]
    assert tables.seconds_to_wait() == 14
    page.send("next")
    assert tables.seconds_to_wait() == 3
    clock.now += 3
    tables.run_due()
    assert page.position["ended"] is None
    page.send("next")  # of no effect now
    assert not page.all("failed")


def test_taking_back_leads_to_the_last_own_decision_and_the_same_agents_move_follows(page: Page) -> None:
    page.sit("person", "easy", "easy", seed=4)
    page.play(12)
    while page.position["waits_for"] != "you":
        page.tables.run_due()
    number, svg = page.position["number"], page.position["svg"]
    page.act()
    page.tables.run_due()
    after = [message for message in page.all("events") if message["number"] > number]
    page.send("undo")
    assert (page.position["number"], page.position["svg"]) == (number, svg)
    assert len(page.told) > len(after)
    page.told.clear()
    page.send("view", theme="light", size=720)
    page.act()
    page.tables.run_due()
    assert page.all("events") == after


def test_what_an_agent_thought_before_an_action_was_taken_back_is_dropped(page: Page) -> None:
    page.sit("person", "random", seed=0)
    page.act()
    (job,) = page.tables.due()
    found = job.think()
    assert page.tables.due() == []  # it thinks already
    page.send("undo")
    job.finish(found)
    assert page.position["number"] == 0
    page.act()
    assert len(page.tables.due()) == 1


def test_new_and_same_deal(page: Page) -> None:
    page.sit("person", "random", "normal", seed=8)
    first = page.position["svg"]
    page.act()
    page.send("again", deal="same")
    assert page.position["svg"] == first
    assert page.last("joined")["seed"] == 8
    page.send("again", deal="new")
    assert page.last("joined")["seed"] != 8
    assert page.position["number"] == 0


def test_an_agent_that_raises_is_told_and_the_table_goes_on(page: Page) -> None:
    key = page.sit("person", BROKEN, seed=0)
    page.act()
    page.tables.run_due()
    failed = page.last("failed")
    assert failed["code"] == "agent"
    assert "out of ideas" in failed["text"]
    assert page.tables.due() == []
    other = Page(page.tables)
    other.send("join", seat_key=key, take_over=True)
    assert other.last("failed") == failed
    other.send("undo")
    assert other.position["waits_for"] == "you"
    other.send("again", deal="same")
    assert other.position["number"] == 0


def test_people_at_one_table_see_each_other_and_play_in_turn(page: Page) -> None:
    keys = page.open("person", "person")
    other = Page(page.tables)
    page.send("join", seat_key=keys[0])
    assert [seat["present"] for seat in page.last("people")["seats"]] == [True, False]
    other.send("join", seat_key=keys[1])
    assert page.last("people")["seats"][1]["present"]
    pages = [page, other]
    while page.position["waits_for"] != "over":
        mover = pages[page.position["to_move"]]
        waiting = pages[1 - page.position["to_move"]]
        assert (mover.position["waits_for"], waiting.position["waits_for"]) == ("you", "person")
        assert waiting.position["legal"] == []
        (answer,) = waiting.send("act", action=0, number=page.position["number"])
        assert answer["type"] == "refused"
        mover.act(max)
        assert page.position["number"] == other.position["number"]
    other.connection.close()
    assert not page.last("people")["seats"][1]["present"]


def test_with_several_people_nothing_is_taken_back_and_a_new_deal_waits_for_the_end(page: Page) -> None:
    page.sit("person", "person")
    assert not page.position["can_undo"]
    for kind, values in (
        ("undo", {}),
        ("again", {"deal": "new"}),
        ("again", {"deal": "same"}),
        ("save", {}),
    ):
        (answer,) = page.send(kind, **values)
        assert answer["type"] == "refused", kind


def test_the_seed_which_tells_all_cards_is_chosen_by_nobody_of_several_and_told_at_the_end(
    page: Page,
) -> None:
    page.send("open", game="cat_in_the_box_v0", players=2, seats=["person", "person"], seed=77)
    page.tables.run_due()
    assert "nobody may choose the seed" in page.last("failed")["text"]
    assert not list(page.tables)
    keys = page.open("person", "person")
    (table,) = page.tables
    pages = [page, Page(page.tables)]
    for one, key in zip(pages, keys, strict=True):
        one.send("join", seat_key=key)
        assert one.last("joined")["seed"] is None
    while page.position["waits_for"] != "over":
        assert not page.all("ended")
        pages[page.position["to_move"]].act()
    assert page.last("ended")["seed"] == str(table.match.seed)  # JavaScript would round the number
    assert table.match.seed >= 1 << 100  # too many to try: a short one can be found from one's own cards
    assert page.send("again", deal="same")[0]["type"] == "refused"
    assert page.send("again", deal="new")[0]["type"] == "joined"


def test_an_agent_that_cannot_be_made_again_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page(Tables(also=[BROKEN]))
    key = page.sit("person", BROKEN, "normal", seed=0)
    position = page.position
    monkeypatch.delattr(sys.modules[__name__], "Broken")
    (answer,) = page.send("again", deal="same")
    assert answer["type"] == "failed"
    page.send("view", theme="light", size=720)
    assert page.position == position
    again = Page(page.tables)
    again.send("join", seat_key=key, take_over=True)
    assert again.last("joined")["seat"] == 0


def test_a_page_gets_its_seat_back_before_the_loss_of_its_connection_is_noticed() -> None:
    page = Page(Tables())
    (key, _) = page.open("person", "normal")
    page.send("join", seat_key=key, page="one")
    again, other, unnamed = Page(page.tables), Page(page.tables), Page(page.tables)
    assert other.send("join", seat_key=key, page="other")[0]["code"] == "taken"
    assert unnamed.send("join", seat_key=key)[0]["code"] == "taken"
    assert again.send("join", seat_key=key, page="one")[0]["type"] == "joined"
    page.connection.close()  # now the server notices
    assert again.act()[0]["type"] == "events"


def test_a_seat_that_is_taken_is_told_and_can_be_taken_over(page: Page) -> None:
    keys = page.open("person", "person")
    other = Page(page.tables)
    page.send("join", seat_key=keys[0])
    other.send("join", seat_key=keys[1])
    assert page.send("join", seat_key=keys[1])[0]["code"] == "taken"
    assert page.act()[0]["type"] == "events"  # it has kept its seat
    page.send("join", seat_key=keys[1], take_over=True)
    assert page.last("joined")["seat"] == 1
    assert other.last("failed")["code"] == "taken_over"
    assert other.send("act", action=0, number=0)[0]["code"] == "not_seated"
    other.connection.close()
    assert [seat["present"] for seat in page.last("people")["seats"]] == [False, True]


def test_people_say_what_they_are_called_and_keep_it_when_they_come_back(page: Page) -> None:
    keys = page.open("person", "person", "easy")
    other = Page(page.tables)
    page.send("name", name="Ann\x1b[2J")
    page.send("join", seat_key=keys[0])
    other.send("join", seat_key=keys[1])
    page.send("name", name=" Bob ")
    assert [seat["name"] for seat in other.last("people")["seats"]] == ["=Bob", "person", "easy"]
    late = Page(page.tables)
    late.send("join", seat_key=keys[1], take_over=True)
    kinds = [message["type"] for message in late.told]
    assert kinds.index("people") < kinds.index("position")
    other.send("join", seat_key=keys[1], take_over=True)
    page.connection.close()
    (bob, *_) = other.last("people")["seats"]
    assert bob == {"seat": 0, "name": "=Bob", "present": False, "stand_in": False}
    for name in ("x" * 21, 5, None):
        assert other.send("name", name=name)[0]["type"] == "failed"
    (answer,) = other.send("name", name="tom")
    assert answer["text"] == "Somebody at this table is called tom already: choose another name.", "the agent"
    cats = (STATIC / "cats.js").read_text(encoding="utf-8")
    assert json.dumps(CATS).strip("[]") in cats
    other.send("name", name="")
    assert other.last("people")["seats"][1]["name"] == "person"
    other.send("name", name="\n")
    assert other.last("people")["seats"][1]["name"] == "=?"


def test_a_page_that_is_loaded_again_is_told_everything_anew(page: Page) -> None:
    key = page.sit("person", "normal", "easy", seed=6)
    page.play(9)
    told, position = page.all("events"), page.position
    page.connection.close()
    again = Page(page.tables)
    again.send("join", seat_key=key)
    assert [message["type"] for message in again.told][:1] == ["joined"]
    assert again.all("events") == told
    assert again.position == position


def test_a_table_where_nobody_sits_is_closed_after_a_while() -> None:
    clock = Clock()
    page = Page(Tables(clock=clock, idle_seconds=60))
    key = page.sit("person", "random")
    clock.now += 1000
    assert page.send("act", action=page.position["legal"][0]["action"], number=0)
    page.connection.close()
    clock.now += 61
    assert Page(page.tables).send("join", seat_key=key)[0]["code"] == "no_seat"
    assert not list(page.tables)


def test_tables_are_bounded_and_the_one_left_longest_ago_makes_room() -> None:
    clock = Clock()
    tables = Tables(clock=clock, most=3)
    pages = [Page(tables) for _ in range(4)]
    keys = []
    for page in pages[:3]:
        clock.now += 1
        keys.append(page.sit("person", "random"))
    pages[3].send("open", game="petrify_v0", players=2, seats=["person", "random"])
    tables.run_due()
    assert pages[3].last("failed")["code"] == "full"
    assert "the most that this server allows" in pages[3].last("failed")["text"]
    for page in (pages[1], pages[0]):  # the one that was opened first is left last
        clock.now += 1
        page.connection.close()
    pages[3].sit("person", "random")
    assert len(list(tables)) == 3
    assert Page(tables).send("join", seat_key=keys[1])[0]["code"] == "no_seat"
    assert Page(tables).send("join", seat_key=keys[0])[0]["type"] == "joined"
    assert pages[2].act()[0]["type"] == "events"


def test_a_page_that_opens_one_table_after_the_other_closes_its_own_and_nobody_elses() -> None:
    clock = Clock()
    tables = Tables(clock=clock)
    pair = Page(tables)
    key = pair.sit("person", "person")
    pair.connection.close()
    many = Page(tables)
    for _ in range(3 * MAX_OF_A_PAGE):
        clock.now += 1
        many.open("person", "random", game="petrify_v0")
    assert len(list(tables)) == MAX_OF_A_PAGE + 1
    assert Page(tables).send("join", seat_key=key)[0]["type"] == "joined"


@pytest.mark.parametrize(("are_kept", "seats"), [(False, ("person", "person")), (True, ("person", "random"))])
def test_tables_of_several_people_and_kept_ones_never_make_room(
    are_kept: bool, seats: tuple[str, str]
) -> None:
    tables = Tables(are_kept=are_kept, most=2)
    keys = []
    for _ in range(2):
        page = Page(tables)
        keys.append(page.sit(*seats, game="petrify_v0"))
        page.connection.close()
    late = Page(tables)
    late.send("open", game="petrify_v0", players=2, seats=["person", "random"])
    tables.run_due()
    assert late.last("failed")["code"] == "full"
    assert [late.send("join", seat_key=key)[0]["type"] for key in keys] == ["joined"] * 2
    tables = Tables(are_kept=are_kept)
    page = Page(tables)
    for _ in range(MAX_OF_A_PAGE):
        page.sit(*seats, game="petrify_v0")
    page.send("open", game="petrify_v0", players=2, seats=list(seats))
    tables.run_due()
    assert "one page may open" in page.last("failed")["text"]


def test_tables_that_nobody_joined_make_room() -> None:
    tables = Tables(most=3)
    for _ in range(5):  # as a page does that asks for tables without end
        Page(tables).open("person", "person", game="petrify_v0")
    assert len(list(tables)) == 3


def test_a_game_goes_on_from_any_of_its_positions() -> None:
    page = Page(Tables())
    page.sit("person", "easy", game="petrify_v0", seed=5)
    page.play()
    told = page.all("events")
    first = [message["lines"] for message in told if message["number"] <= 2]
    page.told.clear()
    page.send("again", deal="from", number=2)
    assert page.position["number"] == 2
    assert page.position["waits_for"] == "you"
    assert [message["lines"] for message in page.all("events")] == first
    page.play()
    assert page.position["waits_for"] == "over"
    assert "number=99" in page.send("again", deal="from", number=99)[-1]["text"]


def names(page: Page) -> list[str]:
    return [seat["name"] for seat in page.last("people")["seats"]]


def test_a_name_that_was_given_before_sitting_down_counts_and_goes_with_its_page() -> None:
    tables = Tables()
    first, second = Page(tables), Page(tables)
    first.send("name", name="Ann")
    keys = first.open("person", "person", game="petrify_v0")
    first.send("join", seat_key=keys[0])
    second.send("join", seat_key=keys[1])
    assert names(first) == ["=Ann", "person"]
    first.connection.close()
    assert names(second)[0] == "=Ann"
    newcomer = Page(tables)
    newcomer.send("join", seat_key=keys[0])
    assert names(second)[0] == "person"
    second.send("name", name="Bob")
    newcomer.connection.close()
    bob = Page(tables)
    bob.send("name", name="Bob")
    bob.send("join", seat_key=keys[0])
    assert names(second) == ["person", "=Bob"]


@pytest.mark.parametrize(
    "name", ["You", "person", "player_1", "Player 0", "ann", "\u3164\u3164Ann", "\uff21nn"]
)
def test_nobody_takes_the_name_of_another(name: str) -> None:
    tables = Tables()
    ann, other = Page(tables), Page(tables)
    keys = ann.open("person", "person", game="petrify_v0")
    ann.send("join", seat_key=keys[0])
    ann.send("name", name="Ann")
    other.send("join", seat_key=keys[1])
    assert other.send("name", name=name)[0]["type"] == "refused"
    assert names(ann) == ["=Ann", "person"]


def test_a_name_of_blanks_is_none() -> None:
    tables = Tables()
    page = Page(tables)
    page.sit("person", "person", game="petrify_v0")
    page.send("name", name="\u3164 \u115f\u2800")
    assert names(page) == ["person", "person"]


def test_pictures_are_drawn_as_the_page_wants_them(page: Page) -> None:
    page.send("view", theme="dark", size=360)
    page.sit("person", "random", seed=0)
    dark = page.position["svg"]
    assert 'width="360"' in dark
    (light,) = page.send("view", theme="light", size=720)
    assert 'width="720"' in light["svg"]
    assert light["number"] == 0
    assert "data-action" in light["svg"]
