"""Models of Stable-Baselines3 as agents, also from their files, in which no code is run."""

from __future__ import annotations

import inspect
import io
import json
import os
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from catbox_agents.agent import SamplingAgent, Seed, check_agent, check_rows
from catbox_agents.networks.game_note import NOTE, noted_game
from catbox_agents.networks.inputs import NetworkInputs, part_sizes
from catbox_env import Game, make_game
from catbox_env.core.checks import short_repr
from catbox_env.core.extras import missing_extra
from catbox_env.core.spec import check_game_object

try:
    import torch
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.base_class import BaseAlgorithm
except ModuleNotFoundError as error:
    raise missing_extra(error, "a model of Stable-Baselines3", "sb3") from error

#: What `read_model` can read, as the file names it.
_POLICIES = ("stable_baselines3.common.policies", "sb3_contrib.common.maskable.policies")
_FLATTEN = "<class 'stable_baselines3.common.torch_layers.FlattenExtractor'>"
_BOX = "<class 'gymnasium.spaces.box.Box'>"
_ACTIVATIONS = {str(kind): kind for kind in (torch.nn.Tanh, torch.nn.ReLU)}


class SB3Agent(SamplingAgent):
    """An agent that plays with a Stable-Baselines3 model and its current weights.

    It takes the most probable legal action, or with ``greedy=False`` samples one from the policy. Masks are applied
    here, so models trained without them (PPO, A2C) play legally too. If the model's environment is still a
    ``VecNormalize``, observations are normalized.

    Args:
        model: MaskablePPO, PPO, A2C or another whose policy has a distribution over actions.
        game: what it plays; None: the game that the model's observation space names.

    Raises ``ValueError`` for another model, and for one that was trained for another game or other rules.
    """

    def __init__(self, model: Any, game: Game | None = None, seed: Seed = None, greedy: bool = True) -> None:
        if not isinstance(model, BaseAlgorithm):
            raise ValueError(
                f"model = {short_repr(model)}: expected a model of Stable-Baselines3, such as MaskablePPO.load(path)"
            )
        name, space = type(model).__name__, model.observation_space
        if not isinstance(space, spaces.Box):
            raise ValueError(
                f"the model {name} takes a {type(space).__name__}, expected an array: train it without "
                "mask_in_observation; MaskablePPO finds the masks without it"
            )
        note = noted_game(space)
        if game is None and note is None:
            raise ValueError(
                "the model's observation space does not say what it was trained for: give the game, "
                "SB3Agent(model, game)"
            )
        trained = make_game(note["game"], **note["options"]) if note else None
        if game is None:
            assert trained
            game = trained
        check_game_object(game)
        super().__init__(trained or game, seed)
        check_agent(self, f"the model {name}", game)
        self.game = game
        self.model, self.greedy = model, greedy
        self.samples_actions = not greedy
        self._inputs = NetworkInputs(game, bool(note and note["features"]))
        if note and note["features"] != part_sizes(self._inputs.layout):
            raise ValueError(
                f"{name} takes the features {note['features']}, but {game.id} has {part_sizes(self._inputs.layout)}: "
                "it was trained with another version"
            )
        _check_model(model, game, self._inputs.size)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], game: Game | None = None, seed: Seed = None, greedy: bool = True
    ) -> SB3Agent:
        """The agent of a file that ``model.save`` wrote; errors as in `read_model` and for a model."""
        model = read_model(path)
        try:
            return cls(model, game, seed, greedy)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None

    def act_batch(
        self, observations: np.ndarray, action_masks: np.ndarray, histories: np.ndarray | None = None
    ) -> np.ndarray:
        """Actions (n,) int64 for ``observations`` (n, O) int8 and ``action_masks`` (n, A); no mask may be empty."""
        if self.greedy:
            return self.policy_batch(observations, action_masks).argmax(axis=1)
        return super().act_batch(observations, action_masks)

    def policy_batch(
        self, observations: np.ndarray, action_masks: np.ndarray, histories: np.ndarray | None = None
    ) -> np.ndarray:
        """The policy (n, A) float32: the model's probabilities, restricted to the legal actions."""
        observations, masks = check_rows(self.game, observations, action_masks)
        seen: np.ndarray = self._inputs.compute(observations, masks)[0]
        if (normalize := self.model.get_vec_normalize_env()) is not None:
            seen = normalize.normalize_obs(seen)
        policy = self.model.policy
        policy.set_training_mode(False)
        with torch.no_grad():  # torch raises a ValueError for logits that are NaN
            logits = policy.get_distribution(policy.obs_to_tensor(seen)[0]).distribution.logits.cpu().numpy()
        scores = np.where(masks, logits, -np.inf)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        policies: np.ndarray = weights / weights.sum(axis=1, keepdims=True)
        return policies


def read_model(path: str | os.PathLike[str]) -> MaskablePPO:
    """The policy of a file that ``model.save`` of Stable-Baselines3 wrote, as a model that plays but does not learn.

    No code in the file is run, unlike by ``MaskablePPO.load``: only texts and weights are read. So it must be an
    ``MlpPolicy`` of MaskablePPO, PPO or A2C with Tanh or ReLU. Raises ``ValueError`` for another model and for a
    damaged file, ``OSError`` for a file that cannot be read.
    """
    try:
        with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
                raise ValueError("an entry is compressed")  # it may be of any size
            data, content = json.loads(archive.read("data")), archive.read("policy.pth")
        settings, space = data["policy_kwargs"], data["observation_space"]
        refused = _refused(data["policy_class"]["__module__"], space[":type:"], settings)
        if refused is None:
            weights = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
            return _rebuilt(weights, settings.get("activation_fn", str(torch.nn.Tanh)), space.get(NOTE))
    except OSError:
        raise
    except Exception as error:  # whatever damage makes zipfile, json and torch raise
        raise ValueError(
            f"{os.fspath(path)} is damaged, or no model of Stable-Baselines3 ({error})"
        ) from error
    raise ValueError(
        f"{os.fspath(path)} holds {refused}. From a file, which is read without running the code in it, catbox plays "
        "the MlpPolicy of PPO, A2C or MaskablePPO, with Tanh or ReLU, on a flat observation. In Python, where you load "
        "the model yourself:  catbox_agents.sb3.SB3Agent(MaskablePPO.load(path), game)"
    )


def _refused(module: str, space: str, settings: Mapping[str, str]) -> str | None:
    """Which policy it is, if `read_model` cannot rebuild it."""
    if module not in _POLICIES:
        return f"a policy of the module {short_repr(module)}"
    if space != _BOX:
        return f"a policy on observations of {short_repr(space)}"
    if (extractor := settings.get("features_extractor_class", _FLATTEN)) != _FLATTEN:
        return f"a policy with the extractor {short_repr(extractor)}"
    if (activation := settings.get("activation_fn", str(torch.nn.Tanh))) not in _ACTIVATIONS:
        return f"a policy with the activation {short_repr(activation)}"
    return None


def _rebuilt(weights: Mapping[str, torch.Tensor], activation: str, note: Any) -> MaskablePPO:
    """A model with these ``weights`` of an ``MlpPolicy``, whose sizes follow from their shapes."""

    def widths(network: str) -> list[int]:
        prefix = f"mlp_extractor.{network}."
        return [
            len(array)
            for name, array in weights.items()
            if name.startswith(prefix) and name.endswith(".weight")
        ]

    first = next(array for name, array in weights.items() if name.endswith(".weight"))
    bounds = np.iinfo(np.int8)
    space = spaces.Box(bounds.min, bounds.max, (first.shape[1],), np.int8)
    vars(space)[NOTE] = note
    model = MaskablePPO(MaskableActorCriticPolicy, None, device="cpu", _init_setup_model=False)
    model.observation_space = space
    model.action_space = spaces.Discrete(len(weights["action_net.bias"]))
    model.policy = MaskableActorCriticPolicy(
        space,
        model.action_space,
        lambda _: 0.0,
        net_arch={"pi": widths("policy_net"), "vf": widths("value_net")},
        activation_fn=_ACTIVATIONS[activation],
    )
    model.policy.load_state_dict(weights)
    return model


def _check_model(model: Any, game: Game, inputs: int) -> None:
    """Raise ``ValueError`` unless the policy of ``model`` has a distribution over the actions of ``game`` and takes
    this number of ``inputs``."""
    name, ask = type(model).__name__, getattr(model.policy, "get_distribution", None)
    if ask is None:
        raise ValueError(
            f"the policy of {name} has no distribution over actions, from which to find the best legal one: use one "
            "that has, such as MaskablePPO, PPO or A2C"
        )
    if "lstm_states" in inspect.signature(ask).parameters:
        raise ValueError(
            f"{name} is recurrent, and an agent must keep no state between decisions: use a model without memory"
        )
    shape, actions = model.observation_space.shape, model.action_space
    if shape is not None and len(shape) == 1 and shape[0] > inputs and shape[0] % inputs == 0:
        raise ValueError(
            f"{name} takes {shape[0]} inputs, {shape[0] // inputs} times the game's {inputs}, as in a VecFrameStack of "
            f"{shape[0] // inputs}; an agent keeps no earlier observations: train without VecFrameStack, since one "
            "observation holds all that its seat knows of the position"
        )
    if shape != (inputs,) or not isinstance(actions, spaces.Discrete) or actions.n != game.num_actions:
        raise ValueError(
            f"{name} takes observations of shape {shape} and gives {short_repr(actions)}; {game.id} with these rules "
            f"gives shape ({inputs},) and takes Discrete({game.num_actions}): it was trained for another game or "
            "other rules"
        )
