"""Records of games: every game can be played again from its line alone, and damaged lines are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import catbox_agents
import catbox_env
from catbox_agents.arena.records import Recorder, read_record
from tests.agents.arena_agents import Highest, Lowest, Middle, spec
from tests.small_games import game_for

NAMES = ["lowest", "middle"]


def recorded(folder: Path, game: Any, agents: list[Any] | None = None, **arguments: Any) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "games.jsonl"
    specs = agents or [spec(Lowest), spec(Middle)]
    catbox_agents.run_arena(game, specs, 10, names=NAMES, seed=2, record=path, **arguments)
    return path


GAMES = [
    ("cat_in_the_box_v0", {"num_players": 2}),
    ("cat_in_the_box_v0", {"num_players": 3, "rounds": 3, "start_player": "random", "reward": "win"}),
    ("cat_te_v0", {"num_players": 3, "region": "khmer", "side_pot": 1, "rounds": 2}),
    ("petrify_v0", {"num_players": 3, "teleports": 2, "walls": 1}),
]


@pytest.mark.parametrize(("game_id", "options"), GAMES)
def test_every_state_of_every_game_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game_id: str, options: dict[str, Any]
) -> None:
    game = catbox_env.make_game(game_id, **options)
    played: dict[int, list[Any]] = {}  # state vectors of each game of the table that is played last

    class Keeping(Recorder):
        def moved(self, vec: Any, rows: Any) -> None:
            if not any(self.actions):
                played.clear()
            super().moved(vec, rows)
            for row in rows.tolist():
                record = vec._records[row]
                played.setdefault(row, []).append(
                    (state_vector(game, vec, row), int(record["current_player"]))
                )

    monkeypatch.setattr("catbox_agents.arena.run.Recorder", Keeping)
    path = recorded(tmp_path, game)
    lines = path.read_text().splitlines()
    header, games = json.loads(lines[0]), [json.loads(line) for line in lines[1:]]
    assert header["options"]["reward"] == "score"
    assert len(played) >= 10
    for row in range(len(played)):
        record = read_record(path, len(games) - len(played) + row + 1)
        found = [(state.state_vector(), state.current_player) for state in record.states()]
        assert len(found) == len(played[row])
        for (one, mover), (other, other_mover) in zip(found, played[row], strict=True):
            assert np.array_equal(one, other)
            assert mover == other_mover


def state_vector(game: Any, vec: Any, row: int) -> np.ndarray:
    out = np.empty(game.state_layout.size, np.int8)
    game.loops.state_one(game.params, vec._records[row : row + 1], 0, out)
    return out


def test_a_deal_that_is_read_from_a_game_gives_the_same_game() -> None:
    for game_id, options in GAMES:
        game = catbox_env.make_game(game_id, **options)
        vec = catbox_env.make_vec(game_id, 20, seed=4, **options)
        for row in range(20):
            deal = json.loads(json.dumps(vec.game.deal_of(vec.get_state(row))))
            again = game.new_initial_state(seed=99, deal=deal)
            assert np.array_equal(again.state_vector(), state_vector(game, vec, row))
    with pytest.raises(ValueError, match="row=20: expected an integer from 0 to 19"):
        vec.get_state(20)


def test_policies_are_recorded_where_the_agent_tells_them(tmp_path: Path) -> None:
    path = recorded(tmp_path, game_for(3))
    lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    assert any("policies" not in line for line in lines)  # Lowest among itself
    line = next(line for line in lines if line["agents"] == ["middle", "lowest", "lowest"])
    record = read_record(path, lines.index(line) + 1)
    told = 0
    for state, action, policy in zip(record.states(), record.actions, record.policies, strict=False):
        if state.current_player == 0:
            told += 1
            legal = state.legal_actions()
            assert [pair[0] for pair in policy] == legal
            assert [pair[1] for pair in policy] == pytest.approx([1 / len(legal)] * len(legal), abs=1e-4)
            assert action == legal[len(legal) // 2]
        else:
            assert policy is None
    assert told > 5


def test_a_file_that_is_there_is_written_over_only_by_the_arena_that_goes_on(tmp_path: Path) -> None:
    game, path, folder = game_for(3), tmp_path / "games.jsonl", tmp_path / "arena"

    def play(num_deals: int, output: Path | None, seed: int = 2, **arguments: Any) -> bytes:
        agents = [spec(Lowest), spec(Middle)]
        catbox_agents.run_arena(
            game, agents, num_deals, names=NAMES, seed=seed, output=output, record=path, **arguments
        )
        return path.read_bytes()

    def interrupt(played: int, total: int) -> None:
        raise KeyboardInterrupt

    path.write_text("mine")
    for output in (None, folder):
        with pytest.raises(ValueError, match=r"games\.jsonl already exists: give another name"):
            play(10, output)
    assert path.read_text() == "mine"
    path.unlink()
    with pytest.raises(catbox_agents.ArenaInterrupted):
        play(10, folder, progress=interrupt)
    assert not path.exists()  # no game was finished
    content = play(10, folder)
    assert play(10, folder) == content
    with pytest.raises(ValueError, match=r"games\.jsonl already exists: give another name"):
        play(10, None)
    more = play(40, folder)
    assert len(more.splitlines()) == 1 + 40 * (3 + 3 + 1 + 1)
    assert set(content.splitlines()) < set(more.splitlines())
    with pytest.raises(catbox_agents.ArenaInterrupted):
        play(60, folder, until_ci=0.001, progress=interrupt)
    assert path.read_bytes() == more
    assert len(play(10, folder).splitlines()) == len(
        more.splitlines()
    )  # fewer games are no reason to lose some
    for number, (seed, agents) in enumerate([(3, [Lowest, Middle]), (2, [Lowest, Highest])]):
        other, specs = tmp_path / f"other{number}", [spec(agent) for agent in agents]
        catbox_agents.run_arena(
            game, specs, 10, names=NAMES, seed=seed, output=other, record=tmp_path / f"others{number}"
        )
        with pytest.raises(ValueError, match=r"games\.jsonl already exists and holds other games: give"):
            catbox_agents.run_arena(game, specs, 20, names=NAMES, seed=seed, output=other, record=path)
    assert path.read_bytes() == more
    new = tmp_path / "new"
    with pytest.raises(ValueError, match=r"games\.jsonl already exists: give another name"):
        play(10, new)
    assert not new.exists()


# Damage ----------------------------------------------------------------------------------------------------------


def test_every_kind_of_damage_is_refused_with_line_and_reason(tmp_path: Path) -> None:
    path = recorded(tmp_path, game_for(3))
    lines = path.read_text().splitlines()

    def refuse(line: int, text: str, said: str, number: int = 1) -> None:
        changed = [*lines[: line - 1], text, *lines[line:]]
        path.write_text("\n".join(changed) + "\n")
        with pytest.raises(ValueError, match=rf"games\.jsonl, line {line}\b.*{said}"):
            read_record(path, number)

    def with_value(line: int, **values: Any) -> str:
        return json.dumps({**json.loads(lines[line - 1]), **values})

    first = json.loads(lines[1])
    refuse(1, with_value(1, format="catbox-games-2"), "a newer version of catbox wrote it; upgrade")
    refuse(1, with_value(1, game="chess_v0"), "chess_v0")
    refuse(1, with_value(1, options={"num_players": 99}), "num_players")
    refuse(1, "", "it is not JSON")
    refuse(2, lines[1][:50], "it is not JSON")
    refuse(3, "7", "expected an object", number=2)
    refuse(
        2, with_value(2, actions=[*first["actions"][:3], 99]), "action 4 of 4: action 99: expected an integer"
    )
    refuse(2, with_value(2, actions=[34]), "action 1 of 1: illegal action 34")
    refuse(2, with_value(2, actions=first["actions"][:-1]), "an unfinished game has None")
    refuse(2, with_value(2, actions=[*first["actions"], 0]), "the game is over")
    refuse(2, with_value(2, returns=None), r"returns=None; this game has \[")
    refuse(2, with_value(2, returns=[100, 0, 0]), r"returns=\[100.*; this game has")
    refuse(2, with_value(2, returns=[10**400, 0, 0]), "expected numbers")
    refuse(2, with_value(2, agents=["a", "b"]), "expected a list of 3")
    refuse(2, with_value(2, agents=["a", "b", "\x1b[2J"]), "expected names of printable characters")
    refuse(
        2, with_value(2, deals=[{"hands": [[9] * 10] * 3}]), "9 is not a card; expected integers from 1 to 6"
    )
    refuse(2, with_value(2, deals=first["deals"] * 2), "2 deals, but 1 rounds began")
    refuse(2, with_value(2, policies=[[[0, 2]]] * len(first["actions"])), "expected pairs")


def test_a_game_that_was_not_finished_has_no_returns(tmp_path: Path) -> None:
    path = recorded(tmp_path, game_for(3))
    lines = path.read_text().splitlines()
    line = json.loads(lines[1])
    cut = {**line, "actions": line["actions"][:-3], "returns": None, "seed": 3}
    path.write_text(lines[0] + "\n" + json.dumps(cut) + "\n")
    record = read_record(path)
    assert record.returns is None
    assert record.actions == line["actions"][:-3]
    for wrong in (
        {**cut, "returns": [0, 0, 0]},
        {name: value for name, value in cut.items() if name != "returns"},
    ):
        path.write_text(lines[0] + "\n" + json.dumps(wrong) + "\n")
        with pytest.raises(ValueError, match=r"an unfinished game has None|expected a list of 3"):
            read_record(path)


def test_the_version_that_wrote_the_file_is_named_where_its_games_differ(tmp_path: Path) -> None:
    path = recorded(tmp_path, game_for(3))
    lines = path.read_text().splitlines()
    header, line = json.loads(lines[0]), json.loads(lines[1])
    path.write_text(json.dumps({**header, "catbox": "0.0.1"}) + "\n" + lines[1] + "\n")
    assert read_record(path).actions == line["actions"]
    changed = json.dumps({**line, "returns": [0, 0, 0]})
    path.write_text(json.dumps({**header, "catbox": "0.0.1"}) + "\n" + changed + "\n")
    with pytest.raises(ValueError, match=r"line 2: returns=.*\(catbox 0\.0\.1 wrote the file, this is "):
        read_record(path)


def test_a_file_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = recorded(tmp_path, game_for(3))
    content = path.read_bytes()
    path.write_bytes(content[: content.index(b"\n") + 100])
    with pytest.raises(ValueError, match="line 2: the file was cut off here"):
        read_record(path)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="line 1: it is empty"):
        read_record(path)


def test_a_game_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = recorded(tmp_path, game_for(3))
    with pytest.raises(ValueError, match=r"games\.jsonl holds 80 games; asked for game 81"):
        read_record(path, 81)
    with pytest.raises(ValueError, match="number of the game=0: expected an integer of 1 or more"):
        read_record(path, 0)
    with pytest.raises(FileNotFoundError):
        read_record(tmp_path / "nothing.jsonl")
