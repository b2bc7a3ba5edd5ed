"""An arena that is stopped goes on where it was; a folder of another one, in use, or damaged is refused."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

import catbox_agents
from catbox_agents import ArenaInterrupted
from catbox_agents.arena.records import read_record
from catbox_agents.arena.report import matrix_figure
from catbox_agents.arena.seatings import SMALL
from tests.agents.arena_agents import Highest, Impatient, Lowest, Sleepy, spec
from tests.agents.policies import checkpoint
from tests.agents.test_run_arena import same
from tests.small_games import game_for

NAMES = ["one", "two"]


def run(
    folder: Path, agents: tuple[type, type] = (Lowest, Highest), deals: int = 40, **arguments: Any
) -> Any:
    specs = [spec(agent) for agent in agents]
    return catbox_agents.run_arena(game_for(), specs, deals, **{"names": NAMES, **arguments}, output=folder)


def lines(folder: Path) -> list[bytes]:
    return (folder / "blocks.jsonl").read_bytes().splitlines(keepends=True)


def test_a_folder_gets_the_result_in_three_forms(tmp_path: Path) -> None:
    result = run(tmp_path / "a" / "b")
    folder = tmp_path / "a" / "b"
    written = json.loads((folder / "results.json").read_text())
    assert {key: written[key] for key in result.as_dict()} == json.loads(json.dumps(result.as_dict()))
    assert written["date"].startswith("20")
    page = (folder / "results.md").read_text()
    assert f"| one | 0 | {result.margin('one', 'two')} |" in page
    assert (folder / "matrix.png").read_bytes().startswith(b"\x89PNG")


def test_finished_blocks_are_not_played_again_and_more_deals_are_added(tmp_path: Path) -> None:
    first = run(tmp_path, deals=SMALL + 8)
    before = lines(tmp_path)
    told: list[tuple[int, int]] = []
    again = run(tmp_path, deals=SMALL + 8, progress=lambda *now: told.append(now))
    assert same(first, again)
    assert told == [(first.games, first.games)]  # nothing was left to play
    assert lines(tmp_path) == before
    more = run(tmp_path, deals=3 * SMALL)
    assert lines(tmp_path)[: len(before)] == before
    assert len(lines(tmp_path)) == len(before) + 2 * 4  # the block of 8 deals was too small
    assert same(more, run(tmp_path / "new", deals=3 * SMALL))
    assert same(first, run(tmp_path, deals=SMALL + 8))


PROGRAM = """
import catbox_agents, catbox_env
from tests.agents.arena_agents import Lowest, Sleepy, spec
if __name__ == "__main__":
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    agents = [spec(Sleepy), "random"]
    catbox_agents.run_arena(
        game, agents, 96, names=["one", "two"], output={folder!r}, processes={processes}, record={record!r}
    )
"""


@pytest.mark.faults
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("processes", [None, 2])
def test_after_kill_9_the_result_is_that_of_an_arena_that_was_not_stopped(
    tmp_path: Path, processes: int | None
) -> None:
    folder, record = tmp_path / "arena", tmp_path / "games.jsonl"
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(folder=str(folder), processes=processes, record=str(record)))
    root = Path(__file__).resolve().parents[2]
    paths = [str(root), *sys.path]
    process = subprocess.Popen(
        [sys.executable, str(program)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        start_new_session=True,
    )
    try:
        until = time.monotonic() + 120
        while not (folder / "blocks.jsonl").exists() or len(lines(folder)) < 3:
            assert process.poll() is None, "the arena ended before it could be killed"
            assert time.monotonic() < until
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    left = [line for line in lines(folder) if line.endswith(b"\n")]
    assert 2 <= len(left) < 4 * 6
    assert not record.exists()
    group_ends(process.pid)
    with open(folder / "blocks.jsonl", "ab") as file:  # what a kill in the middle of a line leaves
        file.write(left[0][:100])
    told: list[tuple[int, int]] = []
    arguments: dict[str, Any] = {"names": NAMES, "progress": lambda *now: told.append(now)}
    agents = [spec(Sleepy), "random"]
    resumed = catbox_agents.run_arena(game_for(), agents, 96, output=folder, record=record, **arguments)
    assert told[0][0] >= 2 * SMALL  # games that were not played again
    whole = tmp_path / "whole.jsonl"
    assert same(resumed, catbox_agents.run_arena(game_for(), agents, 96, record=whole, **arguments))
    assert record.read_bytes() == whole.read_bytes()
    assert lines(folder)[: len(left)] == left


def group_ends(group: int) -> None:
    """Wait until no process of the group is left: those that play end by themselves."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("processes of the arena are left")


def test_ctrl_c_gives_and_writes_the_deals_that_every_table_finished(tmp_path: Path) -> None:
    Impatient.left = 20_000
    record = tmp_path / "games.jsonl"
    with pytest.raises(
        ArenaInterrupted, match=r"interrupted: \d+ of 960 deals were finished at every"
    ) as stopped:
        run(tmp_path / "arena", (Impatient, Lowest), 960, record=record)
    result = stopped.value.result
    assert result is not None
    assert 0 < result.deals < result.deals_planned == 960
    assert result.deals % SMALL == 0
    assert json.loads((tmp_path / "arena" / "results.json").read_text())["deals"] == result.deals
    assert f"partial: {result.deals} of 960" in (tmp_path / "arena" / "results.md").read_text()
    assert read_record(record).agents == ["one"] * 3
    Impatient.left = 10**9
    assert same(
        run(tmp_path / "arena", (Impatient, Lowest), result.deals, record=record),
        run(tmp_path / "new", (Impatient, Lowest), result.deals, record=tmp_path / "new.jsonl"),
    )
    lines_of = [path.read_bytes().splitlines() for path in (tmp_path / "new.jsonl", record)]
    assert set(lines_of[0]) <= set(lines_of[1])  # some tables had finished more deals


def test_ctrl_c_before_anything_was_finished_has_no_result(tmp_path: Path) -> None:
    Impatient.left = 20
    with pytest.raises(ArenaInterrupted, match="interrupted: 0 of 40 deals") as stopped:
        run(tmp_path, (Impatient, Lowest))
    assert stopped.value.result is None
    assert not (tmp_path / "results.json").exists()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"names": ["one", "three"]}, r'its agents \["two"\], requested now \["three"\]'),
        ({"deal_set": "test"}, r'its deals \(--deal-set or --seed\) "selection", requested now "test"'),
        ({"mixed": True}, "its mixed false, requested now true"),
    ],
)
def test_the_folder_of_another_arena_is_refused(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    run(tmp_path, deals=10)
    before = lines(tmp_path)
    with pytest.raises(ValueError, match=f"holds another arena: {said}"):
        run(tmp_path, **{"deals": 10, **changed})
    assert lines(tmp_path) == before


def test_other_rules_are_another_arena(tmp_path: Path) -> None:
    run(tmp_path, deals=10)
    specs = [spec(Lowest), spec(Highest)]
    with pytest.raises(
        ValueError, match=r'its options \{"num_players": 3, .*now \{"num_players": 4, '
    ) as refused:
        catbox_agents.run_arena(game_for(4), specs, 10, names=NAMES, output=tmp_path)
    assert "copies" not in str(refused.value), "only what differs is named"


@pytest.mark.slow
def test_other_weights_are_another_agent_in_a_search_too(tmp_path: Path) -> None:
    net = checkpoint(tmp_path, "cat_in_the_box_v0", 1, num_players=3)
    agents = [f"search:worlds=2,opponent_model={net}", spec(Lowest)]
    told: list[tuple[int, int]] = []

    def play() -> Any:
        told.clear()
        return catbox_agents.run_arena(
            game_for(), agents, 10, output=tmp_path / "arena", progress=lambda *now: told.append(now)
        )

    first = play()
    play()
    assert told == [(first.games, first.games)]
    os.replace(checkpoint(tmp_path, "cat_in_the_box_v0", 2, num_players=3), net)
    play()
    assert told[0] == (10, first.games)  # `Lowest` among itself alone is as it was
    play()
    assert told == [(first.games, first.games)]


@pytest.mark.filterwarnings("error")
def test_names_may_hold_any_sign(tmp_path: Path) -> None:
    names = ["$x^$", "a|b [red]"]
    catbox_agents.run_arena(game_for(), [spec(Lowest), spec(Highest)], 10, names=names, output=tmp_path)
    assert "| $x^$ |" in (tmp_path / "results.md").read_text()
    assert (tmp_path / "matrix.png").stat().st_size > 10_000


def test_the_picture_names_game_sides_and_ratings_and_explains_the_colours_that_it_has() -> None:
    result = catbox_agents.run_arena(game_for(), [spec(Lowest), spec(Highest)], 10, names=["low", "high"])
    content = result.as_dict()
    words = [text.get_text() for text in matrix_figure(content).axes[0].texts]
    assert words[:2] == [f"{words[6]} scores highest", "Cat in the Box, 3 players, 10 deals per table"]
    assert words[4:6] == ["this agent", "among these"]
    assert {*words[6:8]} == {"low", "high"}
    assert words[8] == "rating"
    for low, unsure in ((-2.0, True), (1.0, False)):
        for row in content["matrix"]:
            row |= {"margin": 1.5, "low": low, "high": 2.0}
        words = [text.get_text() for text in matrix_figure(content).axes[0].texts]
        assert words[2:4] == [
            "Points per game above the others, ± 95 % interval",
            "Rating: Elo scale; 400 points are odds of 10 to 1",
        ]
        assert ("not certain" in words) is unsure
        assert words[-2 - unsure :][:2] == ["0", "+1.5"], "the key"


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(
        ValueError, match=r"is not empty \(letter.txt\) and not the folder of an arena; give another"
    ):
        run(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) in (["letter.txt"], ["arena.lock", "letter.txt"])


@pytest.mark.faults
def test_a_full_disk_is_named_and_what_was_finished_is_kept(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))  # as little room for each file
    try:
        with pytest.raises(
            catbox_agents.system.files.WriteError, match=r"cannot write .*blocks\.jsonl: File too large"
        ):
            run(tmp_path, deals=100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    finished = lines(tmp_path)[:-1]
    assert len(finished) > 2
    assert same(run(tmp_path, deals=100), run(tmp_path / "new", deals=100))
    assert lines(tmp_path)[: len(finished)] == finished


def test_two_arenas_do_not_share_a_folder(tmp_path: Path) -> None:
    run(tmp_path, deals=10)
    with FileLock(tmp_path / "arena.lock"), pytest.raises(ValueError, match="another arena is playing there"):
        run(tmp_path, deals=10)


def damage(name: str, old: bytes, new: bytes) -> Any:
    def change(folder: Path) -> None:
        content = (folder / name).read_bytes()
        assert old in content
        (folder / name).write_bytes(content.replace(old, new, 1))

    return change


@pytest.mark.faults
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (damage("arena.json", b"{", b"["), r"arena\.json is damaged"),
        (damage("arena.json", b"catbox-arena-2", b"catbox-arena-3"), "a newer version of catbox wrote it"),
        (
            damage("blocks.jsonl", b'"rounds":', b'"rounds":1'),
            r"blocks\.jsonl, line 1: it is damaged .*checksum",
        ),
        (damage("blocks.jsonl", b"{", b""), "line 1: it is damaged"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, change: Any, said: str) -> None:
    run(tmp_path, deals=10)
    change(tmp_path)
    with pytest.raises(ValueError, match=said):
        run(tmp_path, deals=10)
