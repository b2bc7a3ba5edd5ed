"""Policies of Stable-Baselines3 as networks, and the files that its ``model.save`` writes, read without running code.

Such a file is a zip archive. Two entries are read:

    data         JSON, one entry for each attribute of the model. Values that JSON cannot hold are pickled, each with
                 its parts as text. Only the texts are read, never a pickle.
    policy.pth   the weights, as torch saves them: a zip archive of a pickle, ``data.pkl``, and the numbers. The pickle
                 may name only three things (`_WeightsReader`), none of which is called as code.

Catbox can play ``MlpPolicy`` of PPO, A2C, MaskablePPO and others of the same classes, with tanh or ReLU, on a flat
observation.
"""

from __future__ import annotations

import io
import json
import math
import pickle
import pickletools
import struct
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.networks.numpy_network import PolicyNetwork
from catbox_env import Game
from catbox_env.core.checks import brief

#: The attribute in which a space names its game; a saved model has it as text in "data".
NOTE = "catbox"
#: The modules of the policies that are read. A subclass elsewhere may compute something else.
_POLICY_MODULES = ("stable_baselines3.common.policies", "sb3_contrib.common.maskable.policies")
_ACTIVATIONS = {
    "<class 'torch.nn.modules.activation.Tanh'>": "tanh",
    "<class 'torch.nn.modules.activation.ReLU'>": "relu",
}
_TANH = "<class 'torch.nn.modules.activation.Tanh'>"  # SB3's default
_FLATTEN = "<class 'stable_baselines3.common.torch_layers.FlattenExtractor'>"
_BOX = "<class 'gymnasium.spaces.box.Box'>"
_ACTOR = "mlp_extractor.policy_net."
_OUTPUT = "action_net."
#: Weights of the critic, which are ignored.
_CRITIC = ("mlp_extractor.value_net.", "value_net.")
#: What reading a damaged zip archive or pickle raises.
_DAMAGE = (
    *(ValueError, TypeError, KeyError, IndexError, EOFError, AttributeError, RuntimeError, OverflowError),
    *(NotImplementedError, zipfile.BadZipFile, zlib.error, struct.error, pickle.UnpicklingError),
)


class OtherModelError(ValueError):
    """A readable model that catbox does not play from a file. The text is the complete message."""


@dataclass(frozen=True)
class SB3Model:
    """The content of a file of Stable-Baselines3: the network, and the game that its observation space names.

    ``game_id`` and ``options`` are None if the space names none.
    """

    network: PolicyNetwork
    game_id: str | None
    options: dict[str, Any] | None


def note_game(space: Any, game: Game, features: Mapping[str, int] | None = None) -> None:
    """Note in the observation ``space`` that it is of ``game``, with the sizes of the ``features`` appended to it.

    The file of a Stable-Baselines3 model that was trained on the space contains the note.
    """
    vars(space)[NOTE] = {"game": game.id, "options": game.options, "features": dict(features or {})}


def noted_game(space: Any) -> dict[str, Any] | None:
    """What `note_game` wrote: the values of "game", "options" and "features". None if it wrote nothing."""
    note = getattr(space, NOTE, None)
    return note if _is_note(note) else None


def check_not_stacked(model: object, size: int, inputs: int) -> None:
    """Raise ``ValueError`` if ``model`` takes ``size`` inputs, several times the game's ``inputs``."""
    stack, rest = divmod(size, inputs)
    if stack > 1 and rest == 0:
        raise ValueError(
            f"{model} takes {size} inputs, {stack} times the game's {inputs}, as in a VecFrameStack of {stack}; an "
            "agent keeps no earlier observations: train without VecFrameStack, since one observation holds all that "
            "its seat knows of the position"
        )


def sb3_network(
    weights: Mapping[str, NDArray[np.float32]], activation: str, features: Mapping[str, int]
) -> PolicyNetwork:
    """The actor of an ``MlpPolicy`` as a network that catbox plays.

    ``weights``, its ``state_dict``: "mlp_extractor.policy_net.0.weight", ...; ``activation``: "tanh" or "relu";
    ``features``: the sizes of the game's features after the observation. Raises ``ValueError`` for other weights.
    """
    known = (_ACTOR, _OUTPUT, *_CRITIC)
    if other := [name for name in weights if not name.startswith(known)]:
        raise ValueError(f"its policy has the weights {brief(other)}, which no MlpPolicy has")
    number, layers = 0, []
    while f"{_ACTOR}{2 * number}.weight" in weights:  # activations have the odd numbers
        layers.append(f"{_ACTOR}{2 * number}.")
        number += 1
    layers.append(_OUTPUT)
    expected = {f"{layer}{part}" for layer in layers for part in ("weight", "bias")}
    if expected != {name for name in weights if name.startswith((_ACTOR, _OUTPUT))}:
        raise ValueError("its policy lacks a layer, or a layer's weight or bias")
    arrays = {
        f"layers.{k}.{part}": np.ascontiguousarray(weights[f"{layer}{part}"])
        for k, layer in enumerate(layers)
        for part in ("weight", "bias")
    }
    shapes = [arrays[f"layers.{k}.weight"].shape for k in range(len(layers))]
    if any(len(shape) != 2 for shape in shapes):
        raise ValueError(f"the weights of its layers are of shape {shapes}")
    arrays["input_scale"] = np.ones(shapes[0][1], np.float32)  # SB3 takes observations as they are
    described: dict[str, Any] = {
        "inputs": shapes[0][1],
        "hidden": [shape[0] for shape in shapes[:-1]],
        "outputs": shapes[-1][0],
        "activation": activation,
    }
    if features:
        described["features"] = dict(features)
    return PolicyNetwork(arrays, described)


def read_sb3_model(path: Path) -> SB3Model:
    """Read a file that ``model.save`` of Stable-Baselines3 wrote, without running code in it.

    Raises `OtherModelError` for a model that catbox does not play from a file, another ``ValueError`` for a damaged
    file, ``OSError`` for one that cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            data = json.loads(_stored(archive, "data"))  # SB3 may write NaN, which parse_json refuses
            if not isinstance(data, dict):
                raise ValueError("its data is not a mapping")
            activation = _checked_policy(path, data)
            weights = _read_weights(_stored(archive, "policy.pth"))
        space = data["observation_space"]
        note = space.get(NOTE) if _is_note(space.get(NOTE)) else None
        network = sb3_network(weights, activation, note["features"] if note else {})
    except OtherModelError:
        raise
    except _DAMAGE as error:
        raise ValueError(str(error) or type(error).__name__) from error
    return SB3Model(network, note["game"] if note else None, note["options"] if note else None)


def _checked_policy(path: Path, data: Mapping[str, Any]) -> str:
    """The activation of the policy that ``data`` describes. Raises `OtherModelError` unless catbox plays it."""

    def refuse(what: str) -> OtherModelError:
        return OtherModelError(
            f"{path} holds {what}. From a file, which is read without running the code in it, catbox plays the "
            "MlpPolicy of PPO, A2C or MaskablePPO, with Tanh or ReLU, on a flat observation. In Python, where you load "
            "the model yourself:  catbox_agents.sb3.SB3Agent(MaskablePPO.load(path), game)"
        )

    module = _entry(data, "policy_class").get("__module__")
    if module not in _POLICY_MODULES:
        raise refuse(f"a policy of the module {brief(module)}")
    space = _entry(data, "observation_space").get(":type:")
    if space != _BOX:
        raise refuse(f"a policy on observations of {brief(space)}")
    settings = _entry(data, "policy_kwargs")
    extractor = settings.get("features_extractor_class", _FLATTEN)
    if extractor != _FLATTEN:
        raise refuse(f"a policy with the extractor {brief(extractor)}")
    activation = settings.get("activation_fn", _TANH)
    if activation not in _ACTIVATIONS:
        raise refuse(f"a policy with the activation {brief(activation)}")
    return _ACTIVATIONS[activation]


def _entry(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = data.get(name)
    if not isinstance(value, dict):
        raise ValueError(f"its {name} is {brief(value)}, expected a mapping")
    return value


def _is_note(note: object) -> bool:
    """Whether ``note`` is what `note_game` writes."""
    return (
        isinstance(note, dict)
        and isinstance(note.get("game"), str)
        and isinstance(note.get("options"), dict)
        and isinstance(note.get("features"), dict)
    )


def _stored(archive: zipfile.ZipFile, name: str) -> bytes:
    """The bytes of an uncompressed entry, which cannot be longer than the file."""
    entry = archive.getinfo(name)
    if entry.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{name} is compressed, which Stable-Baselines3 never does")
    return archive.read(entry)


@dataclass(frozen=True)
class _Tensor:
    """A tensor as the pickle describes it: a part of the numbers of an entry of the archive."""

    entry: str
    offset: int
    shape: tuple[int, ...]


def _rebuilt(storage: Any, offset: Any, shape: Any, strides: Any, *_: Any) -> _Tensor:
    """Replaces ``torch._utils._rebuild_tensor_v2``. Raises ``ValueError`` unless the numbers are contiguous."""
    if not isinstance(storage, str) or not isinstance(shape, tuple) or not isinstance(strides, tuple):
        raise ValueError("policy.pth describes a tensor in another way than torch does")
    sizes = (offset, *shape, *strides)
    if not all(type(size) is int and 0 <= size < 1 << 48 for size in sizes) or len(shape) > 2:
        raise ValueError("policy.pth has a tensor of a size or shape that no layer has")
    expected = tuple(math.prod(shape[k + 1 :]) for k in range(len(shape)))
    if any(
        size > 1 and found != wanted for size, found, wanted in zip(shape, strides, expected, strict=True)
    ):
        raise ValueError(f"policy.pth has a tensor of shape {shape} with the strides {strides}")
    return _Tensor(storage, offset, shape)


class _WeightsReader(pickle.Unpickler):
    """Reads the pickle of a ``state_dict``: a mapping, and tensors of float32. It looks up no other names."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuilt
        if (module, name) == ("torch", "FloatStorage"):
            return "float32"
        raise ValueError(f"policy.pth names {module}.{name}, which no weights of float32 need")

    def persistent_load(self, description: Any) -> str:
        kind, number_type, entry, *_ = description
        if kind != "storage" or number_type != "float32" or not isinstance(entry, str):
            raise ValueError("policy.pth has numbers of another type than float32")
        return entry


def _check_pickle(content: bytes) -> None:
    """Raise ``ValueError`` for a pickle that would need far more memory to read than its own size.

    Python's unpickler allocates memory for the highest memo index, and for the stated length of a byte array before it
    reads it; both are numbers in the pickle. Byte arrays are newer than protocol 2, which torch writes.
    """
    for instruction, argument, _ in pickletools.genops(content):
        if instruction.proto > 2:
            raise ValueError(f"policy.pth has the instruction {instruction.name}, which torch does not write")
        if instruction.name in ("PUT", "BINPUT", "LONG_BINPUT") and int(argument or 0) >= len(content):
            raise ValueError(f"policy.pth has the memo index {argument}, more than it can have values")


def _read_weights(content: bytes) -> dict[str, NDArray[np.float32]]:
    """The tensors of a file that torch wrote. Raises one of `_DAMAGE`."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        (pickled,) = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        folder = pickled.removesuffix("data.pkl")
        if f"{folder}byteorder" in archive.namelist() and _stored(archive, f"{folder}byteorder") != b"little":
            raise ValueError("the numbers in policy.pth are not little-endian")
        program = _stored(archive, pickled)
        _check_pickle(program)
        found = _WeightsReader(io.BytesIO(program)).load()
        if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
            raise ValueError("policy.pth does not hold a mapping of names to tensors")
        tensors = {name: tensor for name, tensor in found.items() if isinstance(tensor, _Tensor)}
        if other := [name for name in found if name not in tensors]:
            raise ValueError(f"{other[0]} in policy.pth is not a tensor")
        if 4 * sum(math.prod(tensor.shape) for tensor in tensors.values()) > len(content):
            raise ValueError("the tensors in policy.pth have more numbers than the file")
        weights = {}
        for name, tensor in tensors.items():
            numbers = np.frombuffer(_stored(archive, f"{folder}data/{tensor.entry}"), "<f4")
            end = tensor.offset + math.prod(tensor.shape)
            if end > len(numbers):
                raise ValueError(f"{name} in policy.pth has fewer numbers than its shape {tensor.shape}")
            weights[name] = numbers[tensor.offset : end].reshape(tensor.shape).astype(np.float32)
    return weights
