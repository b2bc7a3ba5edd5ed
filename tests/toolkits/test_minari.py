"""Data sets, read back by Minari and pyarrow: every decision, and the rewards that were paid."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import minari
import numpy as np
import pytest
import yaml
from pyarrow import concat_tables, parquet

from catbox_agents.dataset import Chunk, play_games
from catbox_env import make_game
from tests.app.table import refused, run
from tests.toolkits.running import ROOT

GAME = make_game("cat_te_v0", num_players=3, rounds=2, reward="margin")
ASKED = ("--game", "cat_te_v0", "--players", "3", "--rounds", "2", "--games", "60", "--seed", "4")


@pytest.fixture
def chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Chunk:
    """The games that ``ASKED`` asks for; Minari keeps its data sets in a folder of the test."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    (found,) = play_games(GAME, ["heuristic", "random"], 60, seed=4).chunks
    return found


def lists(table, name):  # type: ignore[no-untyped-def]
    return table[name].combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(len(table), -1)


def test_parquet_reads_back_equal(chunk: Chunk, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    assert run("dataset", "heuristic", "random", *ASKED, "--output", str(folder)).exit_code == 0
    table = parquet.read_table(folder / "decisions.parquet")
    for name in ("game", "seat", "move", "action", "reward"):
        assert (table[name].to_numpy() == getattr(chunk, name)).all(), name
    assert (lists(table, "observation") == chunk.observation).all()
    assert (lists(table, "action_mask") == chunk.action_mask).all()
    assert table["agents"].to_pylist() == [chunk.agents[game] for game in chunk.game]
    assert table["deal"].to_pylist() == [chunk.deals[game] for game in chunk.game]
    assert (table["return"].to_numpy() == chunk.returns[chunk.game, chunk.seat]).all()
    agents = [chunk.agents[game][seat] for game, seat in zip(chunk.game, chunk.seat, strict=True)]
    assert table["agent"].to_pylist() == agents
    paid = table.group_by(["game", "seat"]).aggregate(
        [("reward", "sum"), ("return", "max"), ("terminated", "sum")]
    )
    assert paid["reward_sum"].to_numpy() == pytest.approx(paid["return_max"].to_numpy())
    assert set(paid["terminated_sum"].to_pylist()) == {1}
    about = json.loads(table.schema.metadata[b"catbox"])
    assert make_game(about["game"], **about["options"]).options == GAME.options


def test_data_sets_of_different_agents_are_read_as_one(tmp_path: Path) -> None:
    tables = []
    for agent in ("random", "heuristic"):
        assert run("dataset", agent, *ASKED, "--output", str(tmp_path / agent)).exit_code == 0
        tables.append(parquet.read_table(tmp_path / agent / "decisions.parquet"))
    both = concat_tables(tables)
    means = both.group_by("agent").aggregate([("reward", "mean")])
    assert sorted(means["agent"].to_pylist()) == ["heuristic", "random"]
    assert len(both.group_by(["agent", "deal"]).aggregate([("move", "max")])) == 120
    assert both.sort_by("agent")["agent"][0].as_py() == "heuristic"
    paid = both.select(["agent", "reward"]).join(means, "agent")
    assert (len(paid), paid["reward_mean"].null_count) == (len(both), 0)


def test_the_same_command_writes_the_same_bytes_and_replaces_nothing(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        assert run("dataset", "random", *ASKED, "--output", str(folder)).exit_code == 0
    for file in ("decisions.parquet", "README.md"):
        assert (one / file).read_bytes() == (two / file).read_bytes()
    assert "holds a data set already" in refused("dataset", "random", *ASKED, "--output", str(one))


def test_the_card_says_what_is_in_it(chunk: Chunk, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    run("dataset", "heuristic", "random", *ASKED, "--output", str(folder), "--license", "cc0-1.0")
    _, front, text = (folder / "README.md").read_text().split("---\n", 2)
    assert yaml.safe_load(front)["license"] == "cc0-1.0"
    card = dict(re.findall(r"^\| ([\w ]+) \| (.*) \|$", text, re.MULTILINE))
    assert (card["game"], card["agents"], card["deals"]) == (
        "`cat_te_v0`",
        "`heuristic`, `random`",
        "of seed 4",
    )
    assert (card["games"], card["decisions"]) == ("60", f"{len(chunk.action):,}")
    mean = {name: [] for name in ("heuristic", "random")}
    for agents, returns in zip(chunk.agents, chunk.returns, strict=True):
        for agent, paid in zip(agents, returns, strict=True):
            mean[agent].append(paid)
    said = ", ".join(f"`{name}` {np.mean(values):+.3f}" for name, values in mean.items())
    assert card["mean return of a seat"] == said
    idle = 180 - len(chunk.episodes())
    assert card.get("without a decision", "0 seats").startswith(f"{idle} seats")


def test_nothing_is_left_where_no_game_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    run(
        "arena", "random", "heuristic", "--players", "3", "--deals", "10", "--record", str(tmp_path / "games")
    )
    header = (tmp_path / "games").read_text().splitlines(keepends=True)[0]
    (tmp_path / "none").write_text(header)
    folder = tmp_path / "data"
    places = ("--output", str(folder), "--minari", "catbox/none-v0")
    assert "no finished game" in refused("dataset", "--records", str(tmp_path / "none"), *places)
    assert not list(folder.iterdir())
    assert "catbox/none-v0" not in minari.list_local_datasets()
    assert run("dataset", "--records", str(tmp_path / "games"), *places).exit_code == 0


def test_minari_reads_back_equal(chunk: Chunk) -> None:
    ran = run("dataset", "heuristic", "random", *ASKED, "--minari", "catbox/test-v0")
    assert ran.exit_code == 0, ran.output
    stored = minari.load_dataset("catbox/test-v0")
    parts = chunk.episodes()
    assert (stored.total_episodes, stored.total_steps) == (len(parts), len(chunk.action))
    for rows, episode in zip(parts, stored.iterate_episodes(), strict=True):
        game, seat = chunk.game[rows.start], chunk.seat[rows.start]
        assert (episode.observations["observation"][:-1] == chunk.observation[rows]).all()
        assert (episode.observations["observation"][-1] == chunk.last[game, seat]).all()
        assert (episode.observations["action_mask"][:-1] == chunk.action_mask[rows]).all()
        assert not episode.observations["action_mask"][-1].any()
        assert (episode.actions == chunk.action[rows]).all()
        assert (episode.rewards == chunk.reward[rows]).all()
        assert sum(episode.rewards) == pytest.approx(chunk.returns[game, seat])
        assert episode.terminations.tolist() == [False] * (len(episode.actions) - 1) + [True]
        assert not episode.truncations.any()
        infos = episode.infos
        assert (infos["seat"] == seat).all()
        assert (infos["return"] == chunk.returns[game, seat]).all()
        assert {name: len(values) for name, values in infos.items()} == dict.fromkeys(infos, 1)
        assert json.loads(infos["deal"][0]) == json.loads(chunk.deals[game])
        assert json.loads(infos["agents"][0]) == chunk.agents[game]
    env = stored.recover_environment()
    assert env.observation_space == stored.observation_space
    assert env.unwrapped.game.options == GAME.options
    assert "| games | 60 |" in stored.storage.metadata["description"]
    assert "already exists" in refused("dataset", "random", *ASKED, "--minari", "catbox/test-v0")


@pytest.mark.parametrize(
    "bad", ["../outside-v0", "x", "/tmp/x-v0", "catbox/zoo-v", "", "a b-v0", "catbox/../x-v0"]
)
def test_a_wrong_id_is_refused_before_anything_is_played(bad: str, chunk: Chunk, tmp_path: Path) -> None:
    folder, before = tmp_path / "data", sorted(tmp_path.rglob("*"))
    said = refused("dataset", "random", *ASKED, "--output", str(folder), "--minari", bad)
    assert re.search(r"minari_id=.*expected\s+NAME-vVERSION\s+or\s+NAMESPACE/NAME-vVERSION", said)
    assert sorted(path for path in tmp_path.rglob("*") if path.name != "minari") == before


WRITING = """
import os, signal
import catbox_env
from catbox_agents.dataset import game_data, play_games, write_dataset

def stop(games, total):
    if games > 20:
        os.kill(os.getpid(), signal.SIGKILL)

game_data.CHUNK = 20
game = catbox_env.make_game("cat_te_v0", num_players=3, rounds=2, reward="margin")
write_dataset(play_games(game, ["random"], 60, seed=4), "data", "catbox/killed-v0", progress=stop)
"""


def test_what_a_killed_process_has_left_is_removed(chunk: Chunk, tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", WRITING], cwd=tmp_path, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(list(tmp_path.rglob("*.writing"))) == 2  # of the Parquet file and of the Minari data set
    places = ("--output", str(tmp_path / "data"), "--minari", "catbox/killed-v0")
    ran = run("dataset", "heuristic", "random", *ASKED, *places)
    assert ran.exit_code == 0, ran.output
    assert minari.load_dataset("catbox/killed-v0").total_steps == len(chunk.action)
    assert len(parquet.read_table(tmp_path / "data" / "decisions.parquet")) == len(chunk.action)
    assert not list(tmp_path.rglob("*.writing"))


FULL = """
import resource, sys
import catbox_env
from catbox_agents.dataset import game_data, play_games, write_dataset

def fill(games, total):
    if sys.argv[3]:
        raise OSError("another error")
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

game_data.CHUNK = 20
game = catbox_env.make_game("cat_te_v0", num_players=3, rounds=2, reward="margin")
output, minari_id = sys.argv[1] or None, sys.argv[2] or None
try:
    write_dataset(play_games(game, ["random"], 60, seed=4), output, minari_id, progress=fill)
except OSError as error:
    print(error)
"""


@pytest.mark.parametrize("other", ["", "another error"])
@pytest.mark.parametrize(
    ("output", "minari_id", "file"),
    [("data", "", "decisions.parquet"), ("", "catbox/full-v0", "(full-v0|main_data.hdf5)")],
)
def test_an_error_of_writing_is_one_line_and_leaves_no_data_set(
    output: str, minari_id: str, file: str, other: str, chunk: Chunk, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", FULL, output, minari_id, other]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    why = other or r"File too large \(allow larger files there\)"
    assert re.fullmatch(rf"cannot write .*{file}: {why}\n", ran.stdout)
    left = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert left == ([] if output else ["namespace_metadata.json"])


def test_a_data_set_that_another_process_writes_is_left_alone(chunk: Chunk, tmp_path: Path) -> None:
    other = tmp_path / "minari" / "catbox" / "busy-v0"
    (other / "data").mkdir(parents=True)
    marker = other.with_name(f".{other.name}.{os.getppid()}.writing")
    marker.touch()
    assert "already exists" in refused("dataset", "random", *ASKED, "--minari", "catbox/busy-v0")
    assert (other / "data").exists()
    assert marker.exists()


def test_minaris_own_collector_records_infos_with_constant_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without ``constant_info`` it raises an error at the end of an episode, where more keys appear."""
    import gymnasium

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    options = {"num_players": 3, "opponents": "random", "mask_in_observation": True}

    def collect(**more: bool) -> minari.DataCollector:
        env = gymnasium.make("catbox_env:catbox/CatInTheBox-v0", **options, **more)
        collector = minari.DataCollector(env, record_infos=True)
        for seed in range(2):
            observation, _ = collector.reset(seed=seed)
            over = False
            while not over:
                observation, _, over, _, _ = collector.step(int(observation["action_mask"].argmax()))
        return collector

    stored = collect(constant_info=True).create_dataset("catbox/own-v0")
    assert stored.total_episodes == 2
    with pytest.raises(ValueError, match=r"key|structure"):
        collect()


def test_the_example_clones(tmp_path: Path) -> None:
    """With few games; docs/datasets.md has the figures for many."""
    command = [sys.executable, str(ROOT / "examples" / "clone.py"), str(tmp_path / "data"), "1000"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=500, check=False)
    assert ran.returncode == 0, ran.stderr
    shares = [
        float(share) for share in re.findall(r"^epoch .*: ([\d.]+)% of the choices", ran.stdout, re.MULTILINE)
    ]
    assert shares[-1] > shares[0]
    assert re.search(r"^clone instead of zoo: [+-]", ran.stdout, re.MULTILINE)
