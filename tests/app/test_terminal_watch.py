"""`catbox watch`: every move, as plain text and in place on a terminal."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import catbox_agents
from catbox_agents import read_record
from tests.app.table import TINY, at_terminal, run


def test_watching_shows_every_move_and_every_hand() -> None:
    ran = run("watch", "random", "heuristic", *TINY, "--seed", "2", "--reasons", "--step", typed="\n" * 20)
    assert ran.exit_code == 0
    moves = [line for line in ran.stdout.splitlines() if line.strip().startswith("player_")]
    assert any(line.startswith("player_0 (random) puts a ") for line in moves)
    assert any(line.startswith("player_1 (heuristic) bids ") for line in moves)
    assert "points by reason" in ran.stdout
    assert "probability of each action" in ran.stdout
    again = run("watch", "random", "heuristic", *TINY, "--seed", "2")
    assert set(moves) <= set(again.stdout.splitlines())
    assert again.stdout.count("hand of player_1") >= 5


def test_the_same_seed_is_the_same_game(tmp_path: Path) -> None:
    one = run("watch", "easy", "--game", "cat_te_v0", "--save", str(tmp_path / "one"))
    seed = one.stdout.splitlines()[0].split()[1].rstrip(".")
    two = run("watch", "easy", "--game", "cat_te_v0", "--seed", seed, "--save", str(tmp_path / "two"))
    assert (tmp_path / "one").read_text() == (tmp_path / "two").read_text()
    assert one.stdout.replace(str(tmp_path / "one"), "") == two.stdout.replace(str(tmp_path / "two"), "")
    assert f"The same game again: catbox watch easy --seed {seed} --game cat_te_v0" in one.stdout


def test_a_game_is_saved_with_the_policies(tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    assert run("watch", "random", "heuristic", "--players", "3", "--save", str(path)).exit_code == 0
    record = read_record(path)
    assert record.agents == ["random", "heuristic", "heuristic"]
    assert record.returns is not None
    assert record.policies[0] is not None
    assert record.policies[1] is None


class Nothing(catbox_agents.Agent):
    """Forgets to answer."""

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> Any:
        return None


def test_an_agent_that_breaks_the_rules_is_named_at_the_table() -> None:
    ran = run("watch", f"{__name__}:Nothing", *TINY)
    assert ran.exit_code == 2
    assert f"catbox: agent '{__name__}:Nothing' raised TypeError: Nothing chose None" in ran.stderr


def test_stopping_to_watch_is_polite(tmp_path: Path) -> None:
    ran = run("watch", *TINY, "--step", "--save", str(tmp_path / "game"), typed="\n")
    assert ran.exit_code == 0
    assert "Stopped watching" in ran.stdout
    assert read_record(tmp_path / "game").returns is None


def test_in_plain_text_an_event_is_one_line_however_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    ran = run("watch", "heuristic", "--game", "cat_te_v0", "--seed", "3")
    told = "  player_3 (heuristic) wins trick 5: AH is the highest card of hearts, the led suit"
    assert told in ran.stdout.splitlines()


def test_on_a_terminal_the_position_stays_in_place_and_a_key_goes_on() -> None:
    text, code = at_terminal(["watch", "random", *TINY, "--seed", "2", "--step"], [" ", "x", "\x1b[C", "q"])
    assert code == 0
    assert text.count("any key: the next move; q: stop") >= 4  # drawn anew over itself each time
    assert len(set(re.findall(r"player_\d \(random\) (?:puts a|bids) \d", text))) == 3
    assert "Stopped watching." in text
    text, code = at_terminal(["watch", "random", *TINY, "--seed", "2", "--delay", "0.01"], [])
    assert code == 0
    assert "Cat in the Box: the game is over" in text
    assert "any key" not in text


@pytest.mark.parametrize("game_id", ["cat_in_the_box_v0", "cat_te_v0", "petrify_v0"])
def test_the_reasons_are_one_table_of_three_actions_in_80_columns(game_id: str) -> None:
    said = run("watch", "heuristic", "--game", game_id, "--seed", "5", "--reasons", columns=80).stdout
    tables = re.findall(r"points by reason.*\naction .* total *\n\u2500+\n((?:\w.*\.\d\d\n)*)", said)
    assert len(tables) == said.count("points by reason") == said.count(" total")
    assert max(table.count("\n") for table in tables) == 3
