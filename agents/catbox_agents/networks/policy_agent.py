"""The agent that plays with a network."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from catbox_agents.adaptation import Adaptation
from catbox_agents.agent import SamplingAgent, Seed, check_rows
from catbox_agents.networks.checkpoint import (
    ANOTHER_CHECKPOINT,
    LOGITS,
    POLICY_FILE,
    VALUES,
    PolicyCheckpoint,
    load_checkpoint,
    save_checkpoint,
)
from catbox_agents.networks.inputs import fit_network
from catbox_agents.networks.numpy_network import NumpyMLP, PlayingNetwork
from catbox_env import Game
from catbox_env.core.checks import check_instance, check_list, is_sequence, short_repr


class PolicyAgent(SamplingAgent):
    """Plays the legal action with the highest logit, or with ``greedy=False`` one sampled from the policy.

    ``network``: a `catbox_agents.networks.network.Network`, with its current weights, or a `PlayingNetwork`;
    ``adapted``, if given, is how it plays ``game``, though made for other rules; ``outputs``: what the network outputs
    for each action, ``"logits"`` or ``"values"``. With values, the agent always plays the action of the highest one,
    and its policy gives that action probability 1. Raises ``ValueError`` for a network that does not fit its game or
    is not finite.
    """

    def __init__(
        self,
        network: Any,
        game: Game,
        seed: Seed = None,
        greedy: bool = True,
        adapted: Adaptation | None = None,
        outputs: str = LOGITS,
    ) -> None:
        super().__init__(game, seed)
        self.adapted = check_instance("adapted", adapted, Adaptation | None, "an Adaptation or None")
        made_for = game if adapted is None else adapted.original
        self.network, self.inputs = fit_network(playing(network), made_for)
        self.outputs = outputs
        self.greedy = greedy or outputs == VALUES
        self.samples_actions = not self.greedy
        self.name = "this policy"  # for messages
        #: The options of the game that it was trained with.
        self.trained_with = made_for.options

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        game: Game,
        seed: Seed = None,
        greedy: bool = True,
    ) -> PolicyAgent:
        """The agent of a checkpoint file, checkpoint folder or run folder; errors as in ``load_checkpoint``.

        The policy also plays rules that are part of those it was trained for (`catbox_agents.adaptation`).
        """
        return cls.of(load_checkpoint(path, game, adapt=True), game, seed, greedy)

    @classmethod
    def of(
        cls, checkpoint: PolicyCheckpoint, game: Game, seed: Seed = None, greedy: bool = True
    ) -> PolicyAgent:
        """The agent of a checkpoint that was read for ``game``."""
        agent = cls(checkpoint.network, game, seed, greedy, checkpoint.adapted, checkpoint.outputs)
        agent.name, agent.trained_with = str(checkpoint.path), checkpoint.options
        return agent

    def act_batch(
        self, observations: np.ndarray, action_masks: np.ndarray, histories: np.ndarray | None = None
    ) -> np.ndarray:
        """Actions (n,) int64 for ``observations`` (n, O) int8 and ``action_masks`` (n, A); no mask may be empty.

        ``histories`` are ignored.
        """
        if self.greedy:
            return self._logits(observations, action_masks).argmax(axis=1)
        return super().act_batch(observations, action_masks)

    def policy_batch(
        self, observations: np.ndarray, action_masks: np.ndarray, histories: np.ndarray | None = None
    ) -> np.ndarray:
        """The policy (n, A) float32: the softmax of the logits, even if the agent is greedy; with values, 1 for the
        action of the highest one."""
        scores = self._logits(observations, action_masks)
        if self.outputs == VALUES:
            return np.eye(scores.shape[1], dtype=np.float32)[scores.argmax(axis=1)]
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return cast(np.ndarray, weights / weights.sum(axis=1, keepdims=True))

    @property
    def has_critic(self) -> bool:
        """Whether the policy file also holds a critic, as those of ``ppo`` do: see `value_batch`."""
        return self.network.has_critic

    def value_batch(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        """What the critic expects the seats to move to be paid, (n,) float32, from here to the end of the game that it
        was trained with (``trained_with``), against the players of its training; arguments as in `act_batch`.

        With a ``gamma`` below 1, later rewards count less. Raises ``ValueError`` without a critic.
        """
        if not self.has_critic:
            raise ValueError(f"{self.name}: it has no critic; policies that ppo trains have one")
        observations, masks = check_rows(self.game, observations, action_masks)
        if self.adapted is not None:
            observations, masks = self.adapted.observations(observations), self.adapted.masks(masks)
        vectors, action_features = self.inputs.compute(observations, masks)
        values = self.network.values(vectors, action_features, masks)
        if not np.isfinite(values).all():
            raise self.not_finite("values")
        return values

    def save(self, folder: str | os.PathLike[str], training: Mapping[str, Any] | None = None) -> None:
        """Write the policy file into ``folder``, made if need be; ``training`` and errors as in `save_checkpoint`."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        game = self.game if self.adapted is None else self.adapted.original
        save_checkpoint(
            Path(folder) / POLICY_FILE, self.network, game, dict(training or {}), outputs=self.outputs
        )

    def _logits(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        """Logits (n, A), minus infinity where illegal."""
        observations, masks = check_rows(self.game, observations, action_masks)
        legal = masks
        if self.adapted is not None:
            observations, legal = self.adapted.observations(observations), self.adapted.masks(masks)
        vectors, action_features = self.inputs.compute(observations, legal)
        scores = self.network.logits(vectors, action_features, legal)
        if self.adapted is not None:
            scores = scores[:, self.adapted.actions]
        if not np.isfinite(scores).all():
            raise self.not_finite()
        return np.where(masks, scores, -np.inf)

    def not_finite(self, what: str = "logits") -> ValueError:
        """The error for logits, or values, that are not finite."""
        return ValueError(
            f"{self.name}: its network gives {what} that are not finite, so no action is better than another; its "
            f"weights are too large, as after training that diverged: {ANOTHER_CHECKPOINT}"
        )


def playing(network: Any) -> PlayingNetwork:
    """What plays as ``network`` does now: the network itself, or its `Network.playing_network`."""
    found = network.playing_network() if hasattr(network, "playing_network") else network
    if not callable(getattr(found, "logits", None)):
        raise ValueError(f"network={short_repr(network)}: expected a catbox_agents.networks.network.Network")
    return cast(PlayingNetwork, found)


def save_policy(
    folder: str | os.PathLike[str],
    game: Game,
    layers: Sequence[tuple[ArrayLike, ArrayLike]],
    activation: str = "relu",
) -> None:
    """Make ``folder`` an agent for every command that plays ``game``, whatever trained its network.

    Args:
        folder: made if need be.
        game: the game whose observations the network reads as they are; it has one output for each action.
        layers: the weights (out, in) and biases (out,) of each, as ``torch.nn.Linear`` has them.
        activation: what stands between the layers, ``"relu"`` or ``"tanh"``.

    Raises ``ValueError`` for layers that do not fit each other or the game, and for numbers that are not finite.
    """
    check_list("layers", layers, "pairs (weights, biases)")
    if not all(is_sequence(layer) and len(layer) == 2 for layer in layers):
        raise ValueError(f"layers={short_repr(layers)}: expected a sequence of pairs (weights, biases)")
    arrays = {}
    for k, (weight, bias) in enumerate(layers):
        arrays[f"layers.{k}.weight"] = np.asarray(weight, np.float32).copy()
        arrays[f"layers.{k}.bias"] = np.asarray(bias, np.float32).copy()
    shapes = [arrays[f"layers.{k}.weight"].shape for k in range(len(layers))]
    if not shapes or any(len(shape) != 2 for shape in shapes):
        raise ValueError(f"layers with weights of shapes {shapes}: expected (out, in), for one layer or more")
    (*hidden, outputs), inputs = [shape[0] for shape in shapes], shapes[0][1]
    arrays["input_scale"] = np.ones(inputs, np.float32)
    described = {"inputs": inputs, "hidden": hidden, "outputs": outputs, "activation": activation}
    PolicyAgent(NumpyMLP(arrays, described), game).save(folder)
