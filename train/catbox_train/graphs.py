"""CUDA graphs: what launches many small kernels again and again is recorded once, and then launched as one.

Launching them one by one from Python takes ten times as long as they run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

#: Calls before the recording: torch and its libraries allocate what they need in the first ones.
WARM_UPS = 3


class Graph:
    """``function`` for a CUDA ``device``: recorded at the fourth call, replayed from then on.

    It takes and returns nothing, works on tensors that stay where they are, and never waits for the GPU. On another
    device it is just called. ``generators``: those that it draws from.
    """

    def __init__(
        self,
        function: Callable[[], None],
        device: torch.device,
        generators: Sequence[torch.Generator] = (),
    ) -> None:
        self._function, self._generators = function, generators
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        self._calls = 0
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self) -> None:
        if self._stream is None:
            self._function()
            return
        if self._graph is not None:
            self._graph.replay()
            return
        self._calls += 1
        if self._calls <= WARM_UPS:
            current = torch.cuda.current_stream(self._stream.device)
            self._stream.wait_stream(current)
            with torch.cuda.stream(self._stream):
                self._function()
            current.wait_stream(self._stream)
            return
        graph = torch.cuda.CUDAGraph()
        for generator in self._generators:
            graph.register_generator_state(generator)
        with torch.cuda.graph(graph, stream=self._stream):
            self._function()
        self._graph = graph
        graph.replay()
