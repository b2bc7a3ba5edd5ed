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

    It takes nothing, works on tensors that stay where they are, never waits for the GPU, and returns the same tensors
    at every call, rewritten. On another device it is just called. ``generators``: those that it draws from.
    """

    def __init__(
        self,
        function: Callable[[], torch.Tensor | None],
        device: torch.device,
        generators: Sequence[torch.Generator] = (),
    ) -> None:
        self._function, self._generators = function, generators
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        self._calls = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._result: torch.Tensor | None = None

    def __call__(self) -> torch.Tensor | None:
        if self._stream is None:
            return self._function()
        if self._graph is not None:
            self._graph.replay()
            return self._result
        self._calls += 1
        if self._calls <= WARM_UPS:
            current = torch.cuda.current_stream(self._stream.device)
            self._stream.wait_stream(current)
            with torch.cuda.stream(self._stream):
                self._result = self._function()
            current.wait_stream(self._stream)
            return self._result
        graph = torch.cuda.CUDAGraph()
        for generator in self._generators:
            graph.register_generator_state(generator)
        with torch.cuda.graph(graph, stream=self._stream):
            self._result = self._function()
        self._graph = graph
        graph.replay()
        return self._result


class GradientSteps:
    """``step(rows, total) -> metrics (k,)`` as a `Graph` for minibatches of one size."""

    def __init__(self, step: Callable[[torch.Tensor, int], torch.Tensor], device: torch.device) -> None:
        self._step, self._device = step, device
        self._rows = torch.empty(0, dtype=torch.int64, device=device)
        self._total = 0
        self._graph: Graph | None = None

    def __call__(self, rows: torch.Tensor, total: int) -> torch.Tensor:
        if self._graph is None or (len(rows), total) != (len(self._rows), self._total):
            self._rows, self._total = torch.empty_like(rows), total
            self._graph = Graph(lambda: self._step(self._rows, self._total), self._device)
        self._rows.copy_(rows)
        metrics = self._graph()
        assert metrics is not None
        return metrics.clone()
