"""Arenas on a cluster of two nodes: the result of this machine, whatever becomes of a node."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import catbox_env
from catbox_agents import AgentError, run_arena
from catbox_agents.arena import ray_workers
from catbox_agents.arena.arena_result import ArenaResult
from catbox_env import Game

AGENTS = ["random", "tests.agents.arena_agents:Drawing", "tests.agents.arena_agents:Lowest"]


@pytest.fixture(scope="module")
def game() -> Game:
    return catbox_env.make_game("cat_in_the_box_v0", num_players=3, num_ranks=3, copies=4, reward="margin")


def untimed(result: ArenaResult) -> dict[str, Any]:
    """A result without what depends on the clock."""
    return {name: value for name, value in result.as_dict().items() if "seconds" not in name}


def test_the_result_is_that_of_this_machine(cluster: Any, game: Game, tmp_path: Path) -> None:
    here = run_arena(game, AGENTS, 60, mixed=True, record=tmp_path / "here.jsonl")
    there = run_arena(
        game, AGENTS, 60, mixed=True, record=tmp_path / "there.jsonl", ray_address=cluster.address
    )
    assert untimed(there) == untimed(here)
    assert (tmp_path / "here.jsonl").read_text() == (tmp_path / "there.jsonl").read_text()


def test_a_fault_stops_the_arena_under_the_agents_name(cluster: Any, game: Game) -> None:
    raising, deadly = "tests.agents.arena_agents:Raising", "tests.ray.worker_functions:Deadly"
    with pytest.raises(
        AgentError, match=r"agent 'tests\.agents\.arena_agents:Raising' raised RuntimeError: a card"
    ):
        run_arena(game, [raising, "random"], 10, ray_address=cluster.address)
    with pytest.raises(ChildProcessError, match=r"lost 4 times while they played '.*:Deadly'"):
        run_arena(game, [deadly, "random"], 10, ray_address=cluster.address)


def test_what_a_node_was_playing_when_it_was_killed_is_played_by_another_one(
    cluster: Any, game: Game, tmp_path: Path
) -> None:
    node, games = cluster.add_node(num_cpus=2), []

    def kill(done: int, total: int) -> None:
        games.append(done)
        if len(games) == 4:
            cluster.remove_node(node, allow_graceful=False)

    there = run_arena(
        game, AGENTS, 400, ray_address=cluster.address, progress=kill, output=tmp_path / "arena"
    )
    assert node not in cluster.worker_nodes
    assert games == sorted(set(games))
    assert untimed(there) == untimed(run_arena(game, AGENTS, 400))
    assert untimed(run_arena(game, AGENTS, 400, output=tmp_path / "arena")) == untimed(there)


def test_an_agent_that_is_another_one_on_a_machine_is_refused(
    cluster: Any, game: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_cluster = ray_workers.on_cluster
    monkeypatch.setattr(
        ray_workers,
        "on_cluster",
        lambda setup, prints, *more: on_cluster(setup, [prints[0], "another"], *more),
    )
    with pytest.raises(ValueError, match=r"agent 'heuristic' is different on .*: put the same files there"):
        run_arena(game, ["random", "heuristic"], 10, ray_address=cluster.address)


def test_a_cluster_without_free_cores_is_not_waited_for_without_end(
    cluster: Any, game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    monkeypatch.setattr(ray_workers, "TIME_TO_BEGIN", 3.0)
    ray.init(cluster.address, logging_level="ERROR", log_to_driver=False)
    try:
        deadline = time.monotonic() + 60
        while ray.cluster_resources()["CPU"] != 4:  # a node that another test killed is counted for a while
            assert time.monotonic() < deadline
            time.sleep(0.2)

        @ray.remote(num_cpus=2)
        class Idle:
            def here(self) -> None:
                pass

        taken = [Idle.remote() for _ in range(2)]
        ray.get([idle.here.remote() for idle in taken])
        with pytest.raises(ChildProcessError, match=r"no core of the Ray cluster was free for 3 s: it has 4"):
            run_arena(game, ["random", "heuristic"], 10, ray_address=cluster.address)
        assert ray.is_initialized(), "a connection that was there is kept"
    finally:
        ray.shutdown()
