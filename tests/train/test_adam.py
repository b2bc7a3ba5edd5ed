"""Adam, beside torch's."""

from __future__ import annotations

import pytest
import torch

from catbox_train.self_play.adam import EPSILON, Adam


def test_steps_are_those_of_torch() -> None:
    """Thirty steps by gradients of very different sizes; the vector is moved in three parts."""
    generator = torch.Generator().manual_seed(1)
    weights = torch.randn(1000, generator=generator)
    expected = torch.nn.Parameter(weights.clone())
    ours, torchs = Adam(1000), torch.optim.Adam([expected], lr=0.0, eps=EPSILON)
    for step in range(1, 31):
        rate = 1e-2 / step
        gradient = torch.randn(1000, generator=generator) * 10.0 ** (-step % 7)
        expected.grad = gradient.clone()
        torchs.param_groups[0]["lr"] = rate
        torchs.step()
        for part in (slice(0, 10), slice(10, 700), slice(700, 1000)):
            ours.move(weights, gradient, part, rate, step)
    state = torchs.state[expected]
    assert torch.allclose(weights, expected.detach(), atol=1e-6)
    for name in ("exp_avg", "exp_avg_sq"):
        assert torch.allclose(ours.state[name], state[name], rtol=1e-4, atol=1e-6), name


def test_a_part_is_moved_alone() -> None:
    weights, optimizer = torch.zeros(100), Adam(100)
    optimizer.move(weights, torch.ones(100), slice(20, 30), 1e-3, 1)
    assert weights.nonzero().flatten().tolist() == list(range(20, 30))
    assert weights[25].item() == pytest.approx(-1e-3, rel=1e-3)
    assert optimizer.state["exp_avg"].nonzero().flatten().tolist() == list(range(20, 30))
