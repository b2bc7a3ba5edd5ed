"""Friends at one table: what the host decides, who watches, and how a table is found again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import catbox_env
from catbox_agents.arena.match import Match
from catbox_app.web.kept import KeptTables, write
from catbox_app.web.table import MAX_WATCHERS, PERSON, Table
from catbox_app.web.tables import MAX_OF_A_PAGE, Tables
from catbox_env.core.checks import PUBLIC
from tests.agents.hidden_pairs import alike
from tests.app.web.page import Clock, Page

HEURISTIC = {"shows": "policy", "agent": "heuristic"}


def seated(*others: str, tables: Tables | None = None, **values: Any) -> tuple[Page, Page, list[str]]:
    """A host in seat 0 and a friend in seat 1; the keys of their seats."""
    host = Page(tables or Tables())
    friend = Page(host.tables)
    keys = [key for key in host.open("person", "person", *others, **values) if key is not None]
    host.send("join", seat_key=keys[0])
    friend.send("join", seat_key=keys[1])
    return host, friend, keys


def watching(page: Page) -> Page:
    """Another page that watches the table that ``page`` has opened."""
    watcher = Page(page.tables)
    watcher.send("join", seat_key=page.last("opened")["watch_key"])
    return watcher


# The host.


def test_the_host_is_whoever_sits_down_first() -> None:
    page = Page(Tables())
    keys = page.open("person", "person")
    page.send("join", seat_key=keys[1])
    assert page.last("people")["host"] == 1
    friend = Page(page.tables)
    friend.send("join", seat_key=keys[0])
    for asked in ({"coach": False}, {"stand_in": 1}):
        (answer,) = friend.send("host", **asked)
        assert answer == {"type": "refused", "text": "Only the host, player_1, decides that."}
    assert friend.last("people")["coach"]


def test_while_the_host_is_away_the_next_person_clockwise_is_the_host() -> None:
    host = Page(Tables())
    keys = host.open("person", "person", "normal", "person")
    second, last = Page(host.tables), Page(host.tables)
    for page, key in ((last, keys[3]), (second, keys[1]), (host, keys[0])):
        page.send("join", seat_key=key)
    assert second.last("people")["host"] == 3  # who sat down first
    last.connection.close()
    assert second.last("people")["host"] == 0
    host.connection.close()
    assert second.last("people")["host"] == 1
    second.send("host", coach=False)
    second.send("host", stand_in=3)
    assert not second.last("people")["coach"]
    assert second.last("people")["seats"][3]["stand_in"]
    back = Page(host.tables)
    back.send("join", seat_key=keys[3])
    assert second.last("people")["host"] == 3
    assert second.send("host", coach=True)[0]["text"] == "Only the host, player_3, decides that."
    assert back.send("host", coach=True)[0]["type"] == "people"


def test_when_the_server_was_started_again_the_first_one_back_is_the_host_until_the_host_is(
    tmp_path: Path,
) -> None:
    host, friend, keys = seated()
    write(KeptTables(tmp_path).changes(host.tables))
    tables = Tables()
    (table,), _ = KeptTables(tmp_path).read(tables.clock)
    tables.add(table)
    friend, host = Page(tables), Page(tables)
    friend.send("join", seat_key=keys[1])
    assert friend.last("people")["host"] == 1
    host.send("join", seat_key=keys[0])
    assert friend.last("people")["host"] == 0


def test_the_coach_advises_nobody_while_the_host_has_switched_it_off() -> None:
    host, friend, _ = seated()
    host.send("coach", **HEURISTIC)
    friend.send("coach", **HEURISTIC)
    host.send("host", coach=False)  # while the coach of the host is thinking
    host.tables.run_due()
    assert [page.last("people")["coach"] for page in (host, friend)] == [False, False]
    host.act()
    host.send("coach", **HEURISTIC)
    friend.send("coach", **HEURISTIC)
    host.tables.run_due()
    assert not host.all("coach")
    assert not friend.all("coach")
    host.send("host", coach=True)
    host.tables.run_due()
    assert friend.last("coach")["number"] == 1
    (answer,) = host.send("host", coach="no")
    assert answer["text"] == "coach='no': expected True or False"


def test_an_agent_plays_for_a_friend_who_is_away_until_the_friend_is_back() -> None:
    host, friend, keys = seated("heuristic", game="cat_te_v0")
    (answer,) = host.send("host", stand_in=1)
    assert answer["type"] == "refused"
    (answer,) = host.send("host", stand_in=2)
    assert answer["text"] == "seat=2: expected the seat of a person, one of [0, 1]"
    (answer,) = host.send("host", stand_in=3)
    assert answer["text"].startswith("stand_in=3: expected a seat")
    friend.connection.close()
    while host.position["to_move"] != 1:
        host.act() if host.position["to_move"] == 0 else host.tables.run_due()
    number = host.position["number"]
    host.send("host", stand_in=1)
    assert host.position["waits_for"] == "agent"
    assert host.last("people")["seats"][1] == {
        "seat": 1,
        "name": "person",
        "present": False,
        "stand_in": True,
    }
    assert not host.last("joined")["can_undo"]
    assert host.send("undo")[0]["type"] == "refused"
    host.tables.run_due()
    (table,) = host.tables
    assert table.match.movers[number] == 1
    # Back while the agent thinks about the next action of the seat: what it thinks of is dropped.
    while host.position["to_move"] != 1:
        host.act() if host.position["to_move"] == 0 else host.tables.run_due()
    (job,) = host.tables.due()
    back = Page(host.tables)
    back.send("join", seat_key=keys[1])
    job.run()
    assert back.position["waits_for"] == "you"
    assert host.position["waits_for"] == "person"
    assert not host.last("people")["seats"][1]["stand_in"]
    assert back.act()[0]["type"] == "events"


def test_an_agent_that_plays_for_somebody_plays_the_next_game_too_and_the_seed_stays_secret() -> None:
    host, friend, _ = seated(game="petrify_v0")
    friend.connection.close()
    host.send("host", stand_in=1)
    while host.position["waits_for"] != "over":
        host.act() if host.position["waits_for"] == "you" else host.tables.run_due()
    host.send("again", deal="new")
    (table,) = host.tables
    assert table.match.stand_ins == [1]
    assert "Heuristic" in type(table.match.agents[1]).__name__  # "normal", as no other seat has an agent
    assert table.match.seed > 2**64
    assert host.last("joined")["seed"] is None


def test_what_the_host_has_decided_survives_a_restart(tmp_path: Path) -> None:
    host, kept = Page(Tables()), KeptTables(tmp_path)
    keys = host.open("person", "person")
    write(kept.changes(host.tables))
    host.send("join", seat_key=keys[0])
    assert kept.changes(host.tables)  # who the host is
    host.send("host", coach=False)
    write(KeptTables(tmp_path).changes(host.tables))
    (path,) = tmp_path.iterdir()
    (table,), _ = KeptTables(tmp_path).read(host.tables.clock)
    assert (table.host, table.allows_coach) == (keys[0], False)
    assert table.watch_key == host.last("opened")["watch_key"]
    path.write_text(path.read_text().replace(f'"host":"{keys[0]}"', '"host":"somebody"'))
    tables, (problem,) = KeptTables(tmp_path).read(host.tables.clock)
    assert not tables
    assert "host: expected one of the keys, or null" in problem


# Who watches.


def told_to_a_watcher(match: Match) -> str:
    """All that a page is told that watches a table of people, and asks for whatever it can."""
    tables = Tables()
    table = tables.add(
        Table(match, [PERSON] * match.game.num_players, 0, tables.clock, ["k" * 16] * match.game.num_players)
    )
    page = Page(tables)
    page.send("coach", **HEURISTIC)
    page.send("join", seat_key=table.watch_key)
    page.send("coach", shows="points")
    page.send("view", theme="dark", size=400)
    for kind, values in {
        "save": {},
        "act": {"action": 0, "number": 0},
        "undo": {},
        "pace": {"seconds": 1},
    }.items():
        assert page.send(kind, **values)[0]["type"] in ("refused", "failed")
    page.send("again", deal="from", number=0)
    tables.run_due()
    assert not page.all("coach")
    return json.dumps(page.told)


@pytest.mark.parametrize(("game_id", "num_players"), [("cat_in_the_box_v0", 3), ("cat_te_v0", 3)])
def test_whoever_watches_is_told_the_same_in_all_worlds_that_nobody_else_could_tell_apart(
    game_id: str, num_players: int
) -> None:
    game = catbox_env.make_game(game_id, num_players=num_players, reward="margin")
    rng = np.random.default_rng(0)
    match, others = Match(game, [None] * num_players, seed=1), 0
    while not match.is_over:
        state = match.state
        told = told_to_a_watcher(match)
        world = alike(alike(state, 0, 1), 1, 2)  # other cards in every hand, the same to see
        same = Match(game, [None] * num_players, seed=2, deal=game.deal_of(world))
        same.play_on(world.history(), [None] * len(match.actions))
        assert told_to_a_watcher(same) == told
        others += all(
            not np.array_equal(world.observation(s), state.observation(s)) for s in range(num_players)
        )
        match.play(match.current_player, int(rng.choice(state.legal_actions())))
    assert others > 5


def test_whoever_watches_sees_a_whole_game_without_a_hand_and_its_end_like_everybody() -> None:
    host, friend, keys = seated(game="cat_te_v0")
    watcher = watching(host)
    assert watcher.last("joined")["seat"] is None
    assert host.last("people")["watching"] == 1
    (table,) = host.tables
    game = table.game
    while host.position["waits_for"] != "over":
        assert watcher.position["svg"] == game.render_svg(table.match.state, PUBLIC)
        assert watcher.position["legal"] == []
        (host if host.position["waits_for"] == "you" else friend).act(max)
        lines = [line["text"].replace(" (person)", "") for line in watcher.last("events")["lines"]]
        assert lines == [event.text for event in table.match.events(PUBLIC, len(table.match.actions) - 1)[0]]
        if not table.match.is_over:
            text = json.dumps(watcher.told)
            assert not any(secret in text for secret in (*keys, str(table.match.seed)))
    assert watcher.position == {**host.position, "place": None}
    assert watcher.last("ended")["seed"] == str(table.match.seed)
    watcher.send("save")
    host.send("save")
    assert watcher.last("record") == host.last("record")


def test_a_table_of_one_person_is_watched_without_its_seed() -> None:
    host = Page(Tables())
    host.sit("person", "easy", seed=987654321)
    watcher = watching(host)
    assert "987654321" not in json.dumps(watcher.told)
    assert not watcher.last("joined")["can_undo"]
    host.send("undo")
    host.act()
    host.tables.run_due()
    host.send("undo")
    assert watcher.position["number"] == host.position["number"] == 0
    assert "987654321" not in json.dumps(watcher.told)


def test_whoever_watches_keeps_no_table_going_and_is_told_when_it_is_closed() -> None:
    clock = Clock()
    host = Page(Tables(clock=clock, idle_seconds=60))
    host.sit("person", "random")
    watcher = watching(host)
    host.act()
    host.connection.close()
    assert host.tables.seconds_to_wait() is None
    clock.now += 61
    host.tables.close_idle()
    assert watcher.last("failed")["code"] == "no_seat"
    assert watcher.send("join", seat_key=host.last("opened")["watch_key"])[0]["code"] == "no_seat"


def test_those_who_watch_are_bounded_and_make_room_when_they_go_or_sit_down() -> None:
    host, friend, keys = seated()
    watchers = [watching(host) for _ in range(MAX_WATCHERS)]
    assert host.last("people")["watching"] == MAX_WATCHERS
    (answer,) = watching(host).told
    assert answer["text"].startswith(f"{MAX_WATCHERS} people watch this table")
    watchers[0].send("join", seat_key=host.last("opened")["watch_key"])  # once more, as after a reload
    assert watchers[0].position
    watchers[1].connection.close()
    friend.connection.close()
    watchers[2].send("join", seat_key=keys[1])
    assert watchers[2].last("joined")["seat"] == 1
    assert host.last("people")["watching"] == MAX_WATCHERS - 2


@pytest.mark.parametrize("name", ["You", "\u3164you", "you\ufe0f", "Player 1"])
def test_whoever_watches_gets_no_name_of_another(name: str) -> None:
    host, _, _ = seated()
    watcher = watching(host)
    assert watcher.send("name", name=name)[0]["type"] == "refused"
    before = len(host.told)
    assert watcher.send("name", name="Ann") == []
    assert len(host.told) == before


@pytest.mark.parametrize("name", ["Tom", "nala"])
def test_nobody_is_called_like_an_agent_of_the_table(name: str) -> None:
    _, friend, _ = seated("normal", "search:fast")
    assert friend.send("name", name=name)[0]["type"] == "refused"
    assert friend.send("name", name=f"{name}0") != []
    assert friend.last("people")["seats"][1]["name"] == f"={name}0"


# Back to a table.


def test_the_lobby_names_the_tables_under_way_of_seats_once_taken() -> None:
    host, friend, keys = seated(game="petrify_v0")
    friend.send("name", name="Ada")
    other = Page(host.tables)
    watch_key = host.last("opened")["watch_key"]
    (lobby,) = other.send("lobby", seat_keys=["gone", keys[0], keys[0], watch_key])
    (table,) = lobby["yours"]
    assert (table["key"], table["title"]) == (keys[0], "Petrify")
    assert [seat["name"] for seat in table["seats"]] == ["person", "=Ada"]
    while host.position["waits_for"] != "over":
        (host if host.position["waits_for"] == "you" else friend).act()
    assert other.send("lobby", seat_keys=[keys[0]])[0]["yours"] == []
    for given in (5, ["k"] * (MAX_OF_A_PAGE + 1), [5]):
        assert other.send("lobby", seat_keys=given)[0]["text"].startswith("seat_keys=")


def test_whoever_goes_back_to_the_lobby_leaves_the_table() -> None:
    host, friend, _ = seated()
    watcher = watching(host)
    assert friend.send("lobby", theme="pink")[0]["type"] == "failed"
    assert host.last("people")["seats"][1]["present"]
    friend.send("lobby")
    watcher.send("lobby")
    assert not host.last("people")["seats"][1]["present"]
    assert host.last("people")["watching"] == 0
