"""Layers with a hand-written derivative, beside the module that torch differentiates."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from catbox_agents.networks.layers import Layers, _relu_bits, _relu_bits_backward
from catbox_agents.networks.mlp import MLP

INPUTS, OUTPUTS, ROWS = 11, 5, 64


def network(hidden: tuple[int, ...], activation: str) -> MLP:
    generator = torch.Generator().manual_seed(3)
    made = MLP(torch.ones(INPUTS), hidden, OUTPUTS, activation).initialise(generator, last_gain=1.0)
    with torch.no_grad():
        for layer in made.linear_layers():
            layer.bias.copy_(torch.randn(layer.bias.shape, generator=generator))
    return made


def layers_of(made: MLP, precision: torch.dtype) -> tuple[Layers, torch.Tensor, torch.Tensor]:
    """The layers of ``made``, their weights and their gradient, which holds something else yet."""
    exact = torch.cat([parameter.detach().reshape(-1) for parameter in made.parameters()])
    weights, gradient = exact.to(precision), torch.full_like(exact, 7, dtype=precision)
    return Layers(made.sizes(), made.activation, weights, exact, gradient), weights, gradient


def inputs() -> torch.Tensor:
    return torch.randint(-3, 4, (ROWS, INPUTS), generator=torch.Generator().manual_seed(4)).to(torch.int8)


def flat_gradient(made: MLP) -> torch.Tensor:
    return torch.cat([parameter.grad.reshape(-1) for parameter in made.parameters()])


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("hidden", [(8,), (16, 8)])
@pytest.mark.parametrize(("precision", "error"), [(torch.float32, 1e-5), (torch.bfloat16, 0.05)])
def test_outputs_and_gradients_are_those_of_the_module(
    activation: str, hidden: tuple[int, ...], precision: torch.dtype, error: float
) -> None:
    """Within what the precision keeps."""
    made = network(hidden, activation)
    layers, _, gradient = layers_of(made, precision)
    direction = torch.randn(ROWS, OUTPUTS, generator=torch.Generator().manual_seed(5))
    expected = made(inputs().float())
    expected.backward(direction)
    activations = layers.activations(inputs().to(precision))
    outputs = layers.outputs(activations)
    layers.backward(activations, direction)
    assert outputs.dtype == torch.float32
    for found, correct in ((outputs, expected), (gradient.float(), flat_gradient(made))):
        assert (found - correct).norm() <= error * correct.norm()


def test_the_last_layer_keeps_all_digits_of_its_weights() -> None:
    made = network((8,), "tanh")
    layers, _, _ = layers_of(made, torch.bfloat16)
    activations = layers.activations(inputs().bfloat16())
    last = made.linear_layers()[-1]
    assert torch.allclose(layers.outputs(activations), last(activations[-1].float()).detach(), atol=1e-6)


def test_layers_follow_weights_that_change_in_place() -> None:
    layers, weights, _ = layers_of(network((8,), "relu"), torch.float32)
    before = layers.outputs(layers.activations(inputs().float()))
    weights[:INPUTS] += 1
    assert not torch.equal(layers.outputs(layers.activations(inputs().float())), before)


def test_a_vector_of_another_length_is_refused() -> None:
    exact = torch.zeros(10)
    with pytest.raises(
        ValueError, match=r"shape \(10,\) for layers of the sizes \[3, 2, 1\]: expected \(11,\)"
    ):
        Layers([3, 2, 1], "relu", exact, exact, exact)


def test_relu_in_bfloat16_is_that_of_torch_for_every_number() -> None:
    """All 65,536 of them: zeros, infinities and NaNs stay what they are there."""
    numbers = torch.arange(-(1 << 15), 1 << 15, dtype=torch.int16).view(torch.bfloat16).reshape(256, 256)
    expected, found = torch.relu(numbers), numbers.clone()
    _relu_bits(found.view(-1).view(torch.uint16).numpy())
    assert torch.equal(found.isnan(), expected.isnan())
    assert torch.equal(found.nan_to_num(nan=7.0), expected.nan_to_num(nan=7.0))


def test_the_gradient_of_relu_in_bfloat16_is_that_of_torch() -> None:
    generator = torch.Generator().manual_seed(6)
    outputs = torch.randn(100, 24, generator=generator).relu().bfloat16()
    gradients = torch.randn(100, 24, generator=generator).bfloat16()
    expected, sums = gradients * (outputs > 0), np.full(24, 7, np.float32)
    _relu_bits_backward(gradients.view(torch.uint16).numpy(), outputs.view(torch.uint16).numpy(), sums)
    assert torch.equal(gradients, expected)
    assert sums == pytest.approx(expected.float().sum(0).numpy(), rel=1e-4, abs=1e-4)
