"""`catbox replay`: forward and back through a recorded game, from any seat's view or with all hands open."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from catbox_agents import GameRecord, read_record
from catbox_app.commands.replay import browse, frame
from catbox_app.terminal import Display
from catbox_app.web.recording import RecordedGame
from tests.app.table import at_terminal, plain, run


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A game of two rounds."""
    path = tmp_path_factory.mktemp("games") / "game.jsonl"
    ran = run(
        "watch", "random", "heuristic", "--players", "3", "--rounds", "2", "--seed", "6", "--save", str(path)
    )
    assert ran.exit_code == 0
    return path


def display_of(record: GameRecord, seat: int | None = None) -> Display:
    console = Console(file=io.StringIO(), width=200, height=60, force_terminal=True)
    return Display(console, record.game, record.agents, seat)


def seen(record: GameRecord, keys: Sequence[str], at: int = 0) -> list[str]:
    """What is shown before each of the keys: "move 3 of 40, all hands open"."""
    display = display_of(record)
    shown: list[str] = []
    left = [*keys, "q"]

    def next_key() -> str:
        text = plain(display.console.file.getvalue())  # type: ignore[attr-defined]
        shown.append(re.findall(r"move \d+ of \d+, [\w ]*\w", text)[-1])
        return left.pop(0)

    browse(RecordedGame(record), display, at, next_key)
    assert not left
    return shown


def end_of_round_1(record: GameRecord) -> int:
    return next(at for at, state in enumerate(record.states()) if at and state.round_ended)


def test_keys_go_forward_and_back_and_from_round_to_round_and_stop_at_both_ends(saved: Path) -> None:
    record = read_record(saved)
    last, end = len(record.actions), end_of_round_1(record)
    keys = ["left", "right", "right", "right", "left", "left", "end", "right", "home", "x", "", "up"]
    moves = [0, 0, 1, 2, 3, 2, 1, last, last, 0, 0, 0, 0]
    assert seen(record, keys) == [f"move {move} of {last}, all hands open" for move in moves]
    moves = [3, end, last, last, end, 0]
    told = seen(record, ["down", "down", "down", "up", "up"], at=3)
    assert told == [f"move {move} of {last}, all hands open" for move in moves]


def test_keys_choose_who_looks(saved: Path) -> None:
    views = [
        "all hands open",
        "as player_2 sees it",
        "as player_0 sees it",
        "as player_0 sees it",
        "all hands open",
    ]
    told = [line.partition(", ")[2] for line in seen(read_record(saved), ["2", "0", "3", "a"])]
    assert told == views


def test_a_seat_sees_neither_hands_nor_discards_nor_policies_of_others(saved: Path) -> None:
    record = read_record(saved)
    for seat in (None, 0, 1, 2):
        for at in range(1, 4):  # the discards
            told, position = frame(RecordedGame(record), display_of(record, seat), at)
            text = "\n".join(line.plain for line in told)
            own = seat in (None, at - 1)
            assert ("puts a card aside" in text) == (not own)
            assert ("its policy" in text) == (own and at == 1)
            assert position.plain.count("hand of") == (3 if seat is None else 1)


def test_the_last_position_of_a_round_is_shown_with_its_sums(saved: Path) -> None:
    record = read_record(saved)
    end = end_of_round_1(record)
    told, position = frame(RecordedGame(record), display_of(record), end)
    assert "Cat in the Box: round 1 of 2, the round is over" in position.plain
    assert any("ends round 1 of 2" in line.plain for line in told)
    _, position = frame(RecordedGame(record), display_of(record), end + 1)
    assert "round 2 of 2, discard" in position.plain


def test_piped_it_is_plain_text_from_the_move_that_was_asked_for(saved: Path) -> None:
    record = read_record(saved)
    ran = run("replay", str(saved))
    assert ran.exit_code == 0
    assert "\x1b" not in ran.stdout
    assert ran.stdout.count(" of 2, ") >= len(record.actions)
    for at, action in enumerate(record.actions[:3], 1):
        assert f"move {at} of {len(record.actions)}" in ran.stdout
        assert f"puts a {action + 1} aside" in ran.stdout
    from_there = run("replay", str(saved), "--move", "5", "--seat", "1").stdout
    assert from_there.startswith(f"move 5 of {len(record.actions)}, as player_1 sees it")
    assert run("replay", str(saved), "--move", "9999").stdout.startswith(f"move {len(record.actions)} of")


def test_a_game_that_was_not_finished_says_so(tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    run("play", "random", "--players", "3", "--save", str(path), typed="#1\nquit\n")
    assert "the game was not finished" in run("replay", str(path)).stdout


def test_on_a_terminal_the_keys_are_read_one_by_one(saved: Path) -> None:
    last = len(read_record(saved).actions)
    text, code = at_terminal(["replay", str(saved)], ["\x1b[C", " ", "\x1b[D", "1", "\x1b[F", "\x1b", "q"])
    assert code == 0
    moves = re.findall(rf"move (\d+) of {last}, ([\w ]*\w)", text)
    shown = [
        ("0", "all hands open"),
        ("1", "all hands open"),
        ("2", "all hands open"),
        ("1", "all hands open"),
    ]
    shown += [("1", "as player_1 sees it"), (str(last), "as player_1 sees it")]
    assert [move for i, move in enumerate(moves) if i == 0 or move != moves[i - 1]] == shown
