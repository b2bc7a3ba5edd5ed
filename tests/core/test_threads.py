"""Threads of a batch: they end with it, survive a fork, and a call ends after all of its own."""

import copy
import gc
import multiprocessing
import os
import signal
import threading
from multiprocessing.connection import Connection

import numpy as np
import pytest

from catbox_env import Vec, make_vec


def threads_of_batches() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("catbox")}


def test_the_threads_of_a_dropped_batch_end() -> None:
    others = threads_of_batches()
    vec = make_vec("cat_in_the_box_v0", num_envs=4, seed=0, num_threads=2)
    twin = copy.deepcopy(vec)
    twin.reset()
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


def test_an_error_in_one_thread_is_raised_when_all_have_finished() -> None:
    done, failed = [], threading.Event()

    def work(rows: np.ndarray) -> None:
        if rows[0] == 0:
            failed.set()
            raise ZeroDivisionError
        failed.wait()
        done.append(sum(range(1_000_000)) and rows[0])

    vec = make_vec("cat_in_the_box_v0", num_envs=6, seed=0, num_threads=3)
    with pytest.raises(ZeroDivisionError):
        vec._run(work, np.arange(6))
    assert sorted(done) == [2, 4]


def test_no_thread_works_on_after_ctrl_c_and_a_reset_begins_again() -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=4, seed=0, num_threads=2)
    kept, done, both = vec.observation.copy(), [], threading.Barrier(2)

    def work(rows: np.ndarray) -> None:
        both.wait(timeout=20)
        if rows[0] == 0:
            signal.raise_signal(signal.SIGINT)  # raises KeyboardInterrupt in the main thread
        done.append(sum(range(3_000_000)) and rows[0])

    vec._run(lambda rows: both.wait(timeout=20), np.arange(2))  # now both threads are there
    with pytest.raises(KeyboardInterrupt):
        vec._run(work, np.arange(4))
    assert sorted(done) == [0, 2]
    vec.reset(seed=0)
    assert np.array_equal(vec.observation, kept)
    vec.step(vec.action_mask.argmax(axis=1))
