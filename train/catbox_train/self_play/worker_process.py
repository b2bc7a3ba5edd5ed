"""What the process of a worker does: it makes the worker, and runs the functions that it is sent."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import threading
import time
from multiprocessing.connection import Connection

#: How often it is looked whether the process of the run is still there, in seconds.
_INTERVAL = 0.25


def main(number: int, parent: int, functions: int, meeting: int, memory: int) -> None:
    """Serve the process ``parent`` as worker ``number`` until it closes the socket ``functions``, or ends.

    ``functions`` and ``meeting`` are the descriptors of sockets, ``memory`` that of the file with the weights.
    """
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()

    import torch  # takes seconds

    from catbox_train.algorithm import algorithm_class
    from catbox_train.memory import keep_freed_memory
    from catbox_train.self_play.algorithm import SelfPlay
    from catbox_train.self_play.crew import run
    from catbox_train.self_play.processes import STOPPING, SharedMemory, Spoke, reported

    for stopping in STOPPING:  # they were blocked; programs that an agent starts take them as always
        signal.signal(stopping, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
    keep_freed_memory()
    torch.set_num_threads(1)
    worker = None
    with Connection(functions) as connection, socket.socket(fileno=meeting) as meetings:
        while True:
            result = error = None
            try:
                try:
                    first, second = connection.recv()
                except (EOFError, ConnectionResetError):
                    return
                if worker is None:
                    config, seed = first, second
                    kind = algorithm_class(config.algorithm)
                    assert issubclass(kind, SelfPlay)
                    game = config.make_game()
                    shared = SharedMemory(memory)
                    weights = kind.make_weights(config, game, shared.allocate, begin=False)
                    shared.close()
                    worker = kind.Worker(game, config, weights, seed, number)
                    worker.meeting = Spoke(meetings)
                else:
                    result = run(worker, first, second)
            except Exception as raised:  # noqa: BLE001  (raised in the process of the run)
                error = reported(raised, number)
            try:
                answer = pickle.dumps((error, result))
            except Exception as raised:  # noqa: BLE001  (pickling raises anything)
                answer = pickle.dumps((reported(raised, number), None))
            try:
                connection.send_bytes(answer)
            except (BrokenPipeError, ConnectionResetError):
                return


def _end_with(parent: int) -> None:
    """End this process, whatever it does, soon after the process ``parent`` has."""
    while os.getppid() == parent:
        time.sleep(_INTERVAL)
    os._exit(1)
