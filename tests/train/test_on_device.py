"""PPO with its networks on a device of torch: the CPU, and a GPU where there is one.

What is played, evaluated and learned there is compared with what PPO's code for the CPU makes of the same rows.
"""

from __future__ import annotations

import copy
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pytest
import torch

from catbox_train import devices
from catbox_train.algorithm import DivergedError, TrainingState
from catbox_train.algorithms.ppo import algorithm as ppo
from catbox_train.algorithms.ppo import on_device
from catbox_train.algorithms.ppo.algorithm import PPO, accelerator
from catbox_train.algorithms.ppo.loss import LEARNING_METRICS, loss_gradient
from catbox_train.algorithms.ppo.on_device import OnDevice, device_bytes
from catbox_train.algorithms.ppo.torch_loss import draw, legal_log_probabilities
from catbox_train.config import TrainConfig
from tests.train.ppo_runs import check_that_it_learns, small, trainer_of

#: Games of six rounds: rewards come in the middle of a game.
MATCH = {"num_players": 3, "num_ranks": 3, "copies": 4, "rounds": 6}
#: One minibatch, of the whole batch.
WHOLE = {"minibatch_size": 512, "max_grad_norm": 1e9}
#: What the networks may be made of.
KINDS = {
    "plain": {"features": False},
    "tanh": {"activation": "tanh", "hidden": [16, 8]},
    "everything": {"privileged_critic": True, "features": True, "action_features": True},
    "history": {"history": True, "hidden": [16, 8]},
    "opponents": {"opponents_in_training": {"random": 0.4, "past": 0.3}, "past_every": 1},
    "four workers": {"workers": 4},
}


def there(algorithm: PPO) -> OnDevice:
    assert algorithm.on_device is not None
    return algorithm.on_device


def collect(algorithm: PPO) -> None:
    """Play a batch on the device, as an update does."""
    algorithm.begin_update(0)
    algorithm.collect()


# Playing.


def test_actions_are_drawn_with_their_probabilities(device: torch.device) -> None:
    generator = torch.Generator(device).manual_seed(4)
    logits = torch.tensor([[1.0, 0.0, 9.0, -1.0]], device=device).repeat(40_000, 1)
    masks = torch.tensor([[True, True, False, True]], device=device).repeat(40_000, 1)
    log_probabilities = legal_log_probabilities(logits, masks)
    actions, chosen = draw(log_probabilities, masks, generator)
    shares = torch.bincount(actions, minlength=4).cpu().numpy() / 40_000
    weights = np.exp([1.0, 0.0, -np.inf, -1.0])
    np.testing.assert_allclose(shares, weights / weights.sum(), atol=0.01)
    assert shares[2] == 0
    assert torch.equal(chosen, log_probabilities.gather(1, actions[:, None])[:, 0])


@pytest.mark.parametrize("number", [torch.nan, torch.inf, 1e38])
def test_an_illegal_action_is_never_drawn_whatever_the_logits(device: torch.device, number: float) -> None:
    generator = torch.Generator(device).manual_seed(4)
    masks = torch.rand((500, 9), device=device) < 0.3
    masks[:, 4] = True
    logits = torch.full((500, 9), number, device=device)
    actions, _ = draw(legal_log_probabilities(logits, masks), masks, generator)
    assert masks.gather(1, actions[:, None]).all()


def test_games_are_played_on_from_batch_to_batch(device: torch.device) -> None:
    """Every decision of a seat is learned from once, in the batch in which its successor is known."""
    with trainer_of(small(game_options=MATCH)) as algorithm:
        learned = played = 0
        for _ in range(4):
            algorithm.update(0)
            learned += sum(len(worker.ready) for worker in algorithm.workers)
            played += algorithm.config.batch_size
        still_open = sum(int((worker.open_rows >= 0).sum()) for worker in algorithm.workers)
    assert learned == played - still_open
    assert 0 < still_open <= 3 * algorithm.config.num_envs


# Learning.


def compiled_gradient(algorithm: PPO, entropy_weight: float) -> tuple[torch.Tensor, np.ndarray]:
    """Gradient and metrics of the whole batch by the compiled loss, all workers together."""
    size = sum(len(worker.ready) for worker in algorithm.workers)
    algorithm.weights.refresh()
    shares = [
        loss_gradient(
            worker, worker.ready, clip=algorithm.options.clip, entropy_weight=entropy_weight, size=size
        )
        for worker in algorithm.workers
    ]
    return algorithm.weights.shares.float().sum(dim=0), np.sum(shares, axis=0)


@pytest.mark.parametrize("shift", [0.0, 0.4], ids=["", "likelier"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_and_the_metrics_are_those_of_the_compiled_loss(
    device: torch.device, kind: str, shift: float
) -> None:
    """Where the policy has moved away from the one that played, the ratio is clipped."""
    with trainer_of(small(game_options=MATCH, epochs=1, **WHOLE, **KINDS[kind])) as algorithm:
        algorithm.update(0)
        collect(algorithm)
        for worker in algorithm.workers:
            worker.log_probabilities += np.float32(shift) * np.sign(worker.advantages)
        means, norms = there(algorithm).learn(0.0, 0.3)
        gradient = there(algorithm).vector.grad.cpu()
        expected, metrics = compiled_gradient(algorithm, 0.3)
        actor, critic = algorithm.weights.parts["actor"], algorithm.weights.parts["critic"]
    for part, norm in zip((actor, critic), norms, strict=True):
        assert (gradient[part] - expected[part]).norm() < 1e-4 * expected[part].norm()
        assert norm == pytest.approx(expected[part].norm().item(), rel=1e-4)
        assert norm > 1e-4
    np.testing.assert_allclose(means, metrics, atol=1e-5, rtol=1e-4)
    clipped = dict(zip(LEARNING_METRICS, metrics, strict=True))["clip_fraction"]
    assert clipped == pytest.approx(float(shift != 0), abs=0.01)  # an advantage of 0 shifts nothing


def test_hidden_layers_in_bfloat16_give_the_gradient_to_three_digits(device: torch.device) -> None:
    with trainer_of(small(game_options=MATCH, epochs=1, **WHOLE, precision="bfloat16")) as algorithm:
        collect(algorithm)
        there(algorithm).learn(0.0, 0.3)
        gradient = there(algorithm).vector.grad.cpu()
        expected, _ = compiled_gradient(algorithm, 0.3)
        assert gradient.dtype == torch.float32
    assert (gradient - expected).norm() < 0.02 * expected.norm()
    assert not torch.equal(gradient, expected)


@pytest.mark.parametrize("max_grad_norm", [1e9, 1e-2])
def test_steps_on_the_device_move_the_weights_as_those_on_the_cpu_do(
    device: torch.device, max_grad_norm: float
) -> None:
    """Six epochs of one minibatch, where the order of the rows does not matter: weights, moments and metrics."""
    settings = {**WHOLE, "max_grad_norm": max_grad_norm, "epochs": 6}
    with trainer_of(small(game_options=MATCH, **settings)) as algorithm:
        algorithm.update(0)
        collect(algorithm)
        # Everything that learning changes.
        changed = [algorithm.weights.vector, *algorithm.optimizer.state.values()]
        changed += [torch.from_numpy(worker.advantages) for worker in algorithm.workers]
        before = [tensor.clone() for tensor in changed]
        metrics = algorithm.learn(2e-3, 0.1)
        after = [tensor.clone() for tensor in changed]
        for tensor, value in zip(changed, before, strict=True):
            tensor.copy_(value)
        algorithm.on_device = None
        cpu_metrics = algorithm.learn(2e-3, 0.1)
        for one, other in zip(after, changed, strict=True):
            torch.testing.assert_close(one, other, atol=2e-5, rtol=1e-3)
        assert metrics == pytest.approx(cpu_metrics, rel=1e-3, abs=1e-5)
        assert (after[0] - before[0]).abs().max() > 1e-3
        assert algorithm.optimizer.state["step"] == 12


@pytest.mark.slow
def test_training_learns(device: torch.device, tmp_path: Path) -> None:
    """What `test_ppo_training` asks of the CPU, at as many decisions."""
    check_that_it_learns(tmp_path / "run")


def test_nothing_waits_for_the_device_between_minibatches(
    device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No number is asked for; on CUDA, torch raises too wherever it would wait."""
    step, steps = OnDevice._step, []

    def refused(tensor: torch.Tensor) -> None:
        raise AssertionError("a number of the device was asked for")

    def watched(batch: OnDevice, *given: torch.Tensor) -> torch.Tensor:
        with monkeypatch.context() as patch, no_waiting() if device.type == "cuda" else nullcontext():
            for name in ("item", "tolist", "cpu", "numpy", "__bool__", "__float__", "__int__"):
                patch.setattr(torch.Tensor, name, refused)
            steps.append(1)
            return step(batch, *given)

    monkeypatch.setattr(OnDevice, "_step", watched)
    with trainer_of(small()) as algorithm:
        algorithm.update(0)
    assert len(steps) == 2 * 4


@contextmanager
def no_waiting() -> Iterator[None]:
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


# Checkpoints.


def updated(algorithm: PPO, count: int) -> TrainingState:
    for _ in range(count):
        algorithm.update(0.1)
    return copy.deepcopy(algorithm.state())


@pytest.mark.parametrize("kind", ["everything", "opponents"])
def test_a_resumed_run_goes_on_bit_for_bit(device: torch.device, kind: str) -> None:
    config = small(**KINDS[kind])
    with trainer_of(config) as algorithm:
        middle = updated(algorithm, 2)
        end = updated(algorithm, 2)
    with trainer_of(config) as algorithm:
        algorithm.restore(middle, 2)
        resumed = updated(algorithm, 2)
    assert end.arrays.keys() == resumed.arrays.keys()
    assert [name for name in end.arrays if not np.array_equal(end.arrays[name], resumed.arrays[name])] == []
    assert end.values == resumed.values


def test_a_checkpoint_moves_between_the_cpu_and_a_device(
    device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the CPU to the device and back: the same arrays and values, and the same weights to begin with."""
    config = small(**KINDS["opponents"])
    state, done = None, 0
    for where in (None, device, None):
        monkeypatch.setattr(ppo, "accelerator", lambda config, where=where: where)
        with trainer_of(config) as algorithm:
            assert (algorithm.on_device is None) == (where is None)
            if state:
                algorithm.restore(state, done)
                assert np.array_equal(algorithm.weights.vector.numpy(), state.arrays["weights"])
            after = updated(algorithm, 2)
        if state:
            assert {name: (a.dtype, a.shape) for name, a in after.arrays.items()} == {
                name: (a.dtype, a.shape) for name, a in state.arrays.items()
            }
            assert after.values.keys() == state.values.keys()
            assert not np.array_equal(after.arrays["weights"], state.arrays["weights"])
        state, done = after, done + 2


# What goes wrong.


@pytest.mark.parametrize(
    ("where", "number", "said"),
    [
        ("actor", torch.nan, "a logit of the policy is not finite"),
        ("actor", torch.inf, "a logit of the policy is not finite"),
        ("actor", 1e9, "a logit of the policy is larger than"),
        ("critic", torch.nan, "the gradient of the critic is not finite"),
        ("moment", torch.nan, "not finite"),
    ],
)
def test_numbers_that_are_not_finite_are_named(
    device: torch.device, where: str, number: float, said: str
) -> None:
    with trainer_of(small()) as algorithm:
        collect(algorithm)
        if where == "moment":
            algorithm.optimizer.state["exp_avg_sq"][0] = number
        else:
            algorithm.weights.vector[algorithm.weights.parts[where]][-1] = number
        with pytest.raises(DivergedError, match=said):
            algorithm.learn(1e-3, 0.1)


def test_a_run_that_does_not_fit_on_the_device_is_refused_with_what_to_change(
    device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small()
    needed = device_bytes(config, config.make_game())
    monkeypatch.setattr(on_device, "free_memory", lambda device: needed - 1)
    with (
        pytest.raises(
            ValueError, match=r"not enough memory on .* free, .* batch_size = 512.*make one of them smaller"
        ),
        trainer_of(config),
    ):
        pass
    monkeypatch.setattr(on_device, "free_memory", lambda device: needed)
    with trainer_of(config) as algorithm:
        assert algorithm.on_device is not None


def test_only_other_devices_than_the_cpu_are_accelerators() -> None:
    assert accelerator(TrainConfig(device="cpu")) is None
    assert accelerator(TrainConfig(device="cuda:1")) == torch.device("cuda", 1)
    assert accelerator(TrainConfig(device="mps")) == torch.device("mps")


def test_compile_without_a_compiler_is_refused_before_training(
    device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(function: object) -> object:
        raise RuntimeError("No working C++ compiler found\nand much more")

    monkeypatch.setattr(devices.torch, "compile", broken)
    with (
        pytest.raises(
            ValueError, match=r"compile = true: .* here \(No working C\+\+ compiler found\); install"
        ),
        trainer_of(small(compile=True)),
    ):
        pass


# torch.compile.


@pytest.mark.slow
def test_compiled_learning_is_the_same(tmp_path: Path) -> None:
    """In a process of its own: torch's compiler raises warnings that are errors here."""
    code = """
        import torch
        from catbox_train.algorithms.ppo import algorithm as ppo
        from tests.train.ppo_runs import small

        ppo.accelerator = lambda config: torch.device("cpu")
        ended = []
        for compiled in (False, True):
            config = small(compile=compiled)
            algorithm = ppo.PPO(config, config.make_game())
            for _ in range(3):
                algorithm.update(0)
            ended.append(algorithm.weights.vector.clone())
            algorithm.close()
        torch.testing.assert_close(*ended, atol=1e-5, rtol=1e-4)
        """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
