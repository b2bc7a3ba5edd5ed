"""Threads of a batch: they end with it, survive a fork, and keep two callers apart."""

import contextlib
import copy
import gc
import multiprocessing
import os
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import pytest

from catbox_env import make_vec
from catbox_env.core.game import Vec
from catbox_env.core.threads import Threads


def threads_of_batches() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("catbox")}


def test_the_threads_of_a_dropped_batch_end() -> None:
    others = threads_of_batches()
    vec = make_vec("cat_in_the_box_v0", num_envs=4, seed=0, num_threads=2)
    twin = copy.deepcopy(vec)
    own = threads_of_batches() - others
    assert len(own) >= 2
    del vec, twin
    gc.collect()
    for thread in own:
        thread.join(timeout=20)
        assert not thread.is_alive()


def play_on(vec: Vec, sender: Connection) -> None:
    vec.step_random(30, seed=1)
    sender.send(vec.current_player)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_batch_plays_on_with_threads_of_its_own() -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=6, seed=0, num_threads=2)
    vec.step_random(3, seed=0)
    forking = multiprocessing.get_context("fork")
    receiver, sender = forking.Pipe(duplex=False)
    child = forking.Process(target=play_on, args=(vec, sender))
    child.start()
    child.join(timeout=30)
    child.kill()
    assert child.exitcode == 0, "the child hangs"
    vec.step_random(30, seed=1)
    assert np.array_equal(receiver.recv(), vec.current_player)


@pytest.mark.parametrize(
    "use",
    [
        lambda vec: vec.reset(0),
        lambda vec: vec.deal(np.array([0])),
        lambda vec: vec.step(vec.action_mask.argmax(axis=1)),
        lambda vec: vec.step_random(5),
        lambda vec: vec.observe(np.zeros(4, np.int64)),
        lambda vec: vec.save(),
        lambda vec: vec.load({}),
        lambda vec: copy.deepcopy(vec),
        lambda vec: vec.set_states(vec.game.new_initial_state(seed=0)),
    ],
)
def test_every_call_is_refused_while_another_thread_is_in_one(use: Callable[[Vec], None]) -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=4, seed=0)
    before = vec.observation.copy()
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with vec._in_use:
            inside.set()
            leave.wait()

    thread = threading.Thread(target=stay)
    thread.start()
    inside.wait()
    with pytest.raises(RuntimeError, match="another thread is using this batch"):
        use(vec)
    leave.set()
    thread.join()
    assert np.array_equal(vec.observation, before)


def test_an_error_in_one_thread_is_raised_when_all_have_finished() -> None:
    done = []
    failed = threading.Event()

    def work(rows: np.ndarray) -> None:
        if rows[0] == 0:
            failed.set()
            raise ZeroDivisionError
        failed.wait()
        done.append(sum(range(1_000_000)) and rows[0])

    with pytest.raises(ZeroDivisionError):
        Threads(3).run(work, np.arange(6))
    assert sorted(done) == [2, 4]


@pytest.mark.parametrize("num_threads", [1, 2])
def test_an_interrupted_step_leaves_no_old_mask(num_threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=4, seed=0, num_players=2, num_threads=num_threads)
    twin = copy.deepcopy(vec)
    view = vec._view

    def interrupted_once(rows: np.ndarray) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(vec, "_view", interrupted_once)
    actions = vec.action_mask.argmax(axis=1)
    with pytest.raises(KeyboardInterrupt):
        vec.step(actions)
    assert view == vec._view
    twin.step(actions)
    assert np.array_equal(vec.action_mask, twin.action_mask)
    assert np.array_equal(vec.observation, twin.observation)
    vec.step(vec.action_mask.argmax(axis=1))


def test_no_thread_works_on_when_ctrl_c_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = Threads(2)
    threads.run(lambda rows: None, np.arange(2))
    submit, asked = threads._pool.submit, []  # type: ignore[union-attr]

    def submit_and_be_interrupted(*arguments: Any) -> Any:
        asked.append(submit(*arguments))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return asked[-1]

    monkeypatch.setattr(threads._pool, "submit", submit_and_be_interrupted)
    with pytest.raises(KeyboardInterrupt):
        threads.run(lambda rows: sum(range(1_000_000)), np.arange(2))
    assert [future.done() for future in asked] == [True, True]
    done: list[int] = []
    threads.run(lambda rows: done.extend(rows), np.arange(2))
    assert sorted(done) == [0, 1]


def test_a_thread_that_was_starting_at_ctrl_c_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool does not know such a thread, and cannot wait for it."""
    threads, done, begun = Threads(2), [], []
    start = threading.Thread.start

    def start_and_be_interrupted(thread: threading.Thread) -> None:
        start(thread)
        begun.append(thread)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start_and_be_interrupted)
        with pytest.raises(KeyboardInterrupt):
            threads.run(lambda rows: done.extend(rows), np.arange(2))
    begun[0].join(timeout=20)
    assert not done
    threads.run(lambda rows: done.extend(rows), np.arange(2))
    assert sorted(done) == [0, 1]


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("where", ["_begin", "_view", "_view_all"])
@pytest.mark.parametrize("change", [
    lambda vec: vec.deal(np.arange(4)),
    lambda vec: vec.reset(seed=5),
    lambda vec: vec.set_states(vec.game.new_initial_state(seed=9)),
    lambda vec: vec.load(make_vec("cat_in_the_box_v0", 4, seed=9, num_players=2).save()),
])  # fmt: skip
def test_games_dealt_during_ctrl_c_are_observed_again(
    change: Callable[[Vec], None], where: str, num_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=4, seed=0, num_players=2, num_threads=num_threads)
    vec.step_random(9, seed=0)

    def interrupted(*rows: np.ndarray) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, contextlib.suppress(KeyboardInterrupt):
        patched.setattr(vec, where, interrupted)
        change(vec)
    with pytest.raises(ValueError, match="illegal actions"):
        vec.step(np.full(4, 25))
    assert np.array_equal(vec.observation, vec.observe(vec.current_player.astype(np.int64)))
    vec.step(vec.action_mask.argmax(axis=1))


def test_ctrl_c_stops_random_play_of_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    vec = make_vec("petrify_v0", num_envs=2, seed=0)
    calls: list[int] = []

    def interrupted(rows: np.ndarray) -> None:
        calls.append(len(rows))
        if len(calls) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(vec, "_view_histories", interrupted)  # called after each part
    with pytest.raises(KeyboardInterrupt):
        vec.step_random(10**12, seed=0)
    assert len(calls) == 4, "two parts were played, the third was cut off, the arrays were written once more"
    vec.step(vec.action_mask.argmax(axis=1))
