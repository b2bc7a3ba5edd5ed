"""A link to a server that can die as one over radio does: nothing passes any more, and nobody is told."""

from __future__ import annotations

import contextlib
import socket
import threading


class Link:
    """Forwards connections to a port of this machine. ``url``: where a page reaches it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/"
        self._cuts = 0
        self._mended = threading.Event()
        self._mended.set()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """What is sent over the present connections is lost, for good; new ones wait until `mend`."""
        self._mended.clear()
        self._cuts += 1

    def mend(self) -> None:
        """Let new connections through."""
        self._mended.set()

    def _accept(self) -> None:
        while True:
            page, _ = self._listening.accept()
            threading.Thread(target=self._connect, args=(page,), daemon=True).start()

    def _connect(self, page: socket.socket) -> None:
        self._mended.wait()
        server = socket.create_connection(("127.0.0.1", self._port))
        for source, sink in ((page, server), (server, page)):
            threading.Thread(target=self._pump, args=(source, sink, self._cuts), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, cuts: int) -> None:
        with source, contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if cuts == self._cuts:
                    sink.sendall(data)
            if cuts == self._cuts:
                sink.shutdown(socket.SHUT_WR)
