"""The checkpoint file of a trained network.

A policy checkpoint is one safetensors file (https://huggingface.co/docs/safetensors): named arrays, and a JSON text in
its header that describes them. Reading it runs no code.

    key of the header   "catbox": {"format", "game", "options", "network": {...}, "training": {...}}
    arrays              "input_scale" (I,), "layers.<k>.weight" (out, in), "layers.<k>.bias" (out,), all float32;
                        with an action head "action_scale" (K,); with histories "history.<name>", see ``history``
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open

from catbox_agents.compatibility import describe_options, differing_options, plays_alike
from catbox_agents.files import LARGEST_TEXT, check_format, parse_json, write_atomically
from catbox_agents.networks.history import HistoryEncoder, weight_shapes
from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.mlp import MAX_HIDDEN_LAYERS, MLP
from catbox_env import Game, make_game

#: The value of "format" in the header. Its number goes up when older files can no longer be read.
FORMAT = "catbox-policy-1"
POLICY_FILE = "policy.safetensors"
CHECKPOINTS_FOLDER = "checkpoints"
ANOTHER_CHECKPOINT = "use another checkpoint, for example the one before it in the same run"


@dataclass(frozen=True)
class PolicyCheckpoint:
    """The content of a policy checkpoint: the network, the game it was trained for, and facts about the training."""

    path: Path
    network: MLP
    game_id: str
    options: dict[str, Any]
    training: dict[str, Any]


def save_checkpoint(
    path: str | os.PathLike[str], network: MLP, game: Game, training: dict[str, Any] | None = None
) -> None:
    """Write ``network`` as a policy checkpoint for ``game``. ``training``: any JSON values, for the caller; a training
    run gives ``algorithm``, ``update`` and ``decisions``, and for its best policy ``margin``.

    Raises ``ValueError`` for weights that are not finite, ``OSError`` if the file cannot be written.
    """
    header = {
        "format": FORMAT,
        "game": game.id,
        "options": game.options,
        "network": network.describe(),
        "training": training or {},
    }
    arrays = {name: array.detach().contiguous() for name, array in network.state_dict().items()}
    for name, array in arrays.items():
        if not array.isfinite().all():
            raise ValueError(f"{path} was not written: {name} holds numbers that are not finite")
    write_atomically(Path(path), safetensors.torch.save(arrays, metadata={"catbox": json.dumps(header)}))


def find_policy(path: str | os.PathLike[str]) -> Path:
    """The policy file at ``path``: the file itself, the file in a checkpoint folder, or the latest of a run folder.

    Raises ``FileNotFoundError`` if there is none.
    """
    given = Path(path)
    if given.is_file():
        return given
    if (given / POLICY_FILE).is_file():
        return given / POLICY_FILE
    if latest := latest_checkpoint(given):
        return latest / POLICY_FILE
    what = "holds no policy checkpoint" if given.is_dir() else "does not exist"
    raise FileNotFoundError(
        f"{given} {what}: give a {POLICY_FILE}, a checkpoint folder, or the folder of a training run"
    )


def latest_checkpoint(run: str | os.PathLike[str]) -> Path | None:
    """The folder of the latest checkpoint of a training run, or None."""
    return max(numbered_checkpoints(run), key=lambda folder: int(folder.name), default=None)


def numbered_checkpoints(run: str | os.PathLike[str]) -> list[Path]:
    """The checkpoint folders of a training run, oldest first. A folder gets its number as name once it is complete."""
    parent = Path(run) / CHECKPOINTS_FOLDER
    if not parent.is_dir():
        return []
    try:
        folders = [folder for folder in parent.iterdir() if _is_number(folder.name) and folder.is_dir()]
    except OSError as error:
        raise OSError(f"{parent} cannot be read ({error.strerror or error}): make it readable") from error
    return sorted(folders, key=lambda folder: int(folder.name))


def _is_number(name: str) -> bool:
    """Whether ``name`` is one that training gives; ``str.isdigit`` alone also accepts digits such as ``"²"``."""
    return name.isascii() and name.isdigit() and name == f"{int(name):08d}"


def load_checkpoint(path: str | os.PathLike[str], game: Game | None = None) -> PolicyCheckpoint:
    """Read a policy checkpoint: a file, a checkpoint folder, or a run folder (its latest checkpoint).

    ``game``, if given, must be the game that the policy was trained for, with the same options; the reward, the number
    of rounds and the start player may differ if the observation has the same parts. Raises ``FileNotFoundError`` if
    there is no checkpoint, another ``OSError`` if it cannot be read, ``ValueError`` if it is damaged, of another
    format, or for another game or rule set.
    """
    file = find_policy(path)
    try:
        header, arrays = _read(file)
        checkpoint = _rebuild(file, header, arrays)
    except _OtherFormat as error:
        raise ValueError(str(error)) from None
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{file} does not exist: {ANOTHER_CHECKPOINT}") from error
    except OSError as error:
        raise OSError(f"{file} cannot be read ({error.strerror or error}): {ANOTHER_CHECKPOINT}") from error
    except (SafetensorError, ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"{file} is damaged ({error}): {ANOTHER_CHECKPOINT}") from error
    if game is not None:
        _check_fits(checkpoint, game)
    return checkpoint


class _OtherFormat(Exception):
    """The file could be read, but has another format. The text of this error is the complete message."""


def _read(file: Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """Header and arrays of a policy file. Raises ``ValueError`` for a header too large and for too many arrays."""
    with open(file, "rb") as start:
        length = int.from_bytes(start.read(8), "little")
    if length > LARGEST_TEXT:  # the library itself reads up to a hundred times as much
        raise ValueError(f"its header has {length:,} bytes, expected at most {LARGEST_TEXT:,}")
    with safe_open(file, framework="pt") as content:
        header = parse_json((content.metadata() or {}).get("catbox", "null"))
        try:
            found = header.get("format") if isinstance(header, dict) else None
            check_format(str(file), found, FORMAT, f"it is not a catbox policy; {ANOTHER_CHECKPOINT}")
        except ValueError as error:
            raise _OtherFormat(str(error)) from None
        for name, kind in (("network", dict), ("game", str), ("options", dict), ("training", dict)):
            if not isinstance(header.get(name), kind):
                raise ValueError(f"{name} = {header.get(name)!r:.80}, expected {kind.__name__}")
        names = list(content.keys())
        if len(names) > 2 * (MAX_HIDDEN_LAYERS + 1) + 6:
            raise ValueError(
                f"it holds {len(names)} arrays, more than a network of {MAX_HIDDEN_LAYERS} hidden layers has"
            )
        return header, {name: content.get_tensor(name) for name in names}


def _rebuild(file: Path, header: dict[str, Any], arrays: dict[str, torch.Tensor]) -> PolicyCheckpoint:
    """The checkpoint in a file. Every size comes from the arrays, and the header must agree with them."""
    for name, array in arrays.items():
        if array.dtype != torch.float32 or not array.isfinite().all():
            raise ValueError(f"{name} ({array.dtype}) holds numbers that are not finite or not float32")
    shapes = {name: tuple(array.shape) for name, array in arrays.items()}
    sizes = [math.prod(shapes.get("input_scale", ()))]
    expected: dict[str, tuple[int, ...]] = {"input_scale": (sizes[0],)}
    history = _history_encoder(shapes)
    while (name := f"layers.{len(sizes) - 1}.weight") in shapes:
        outputs = shapes[name][0] if shapes[name] else 0
        taken = sizes[-1] + (history.outputs if history and len(sizes) == 1 else 0)
        expected |= {name: (outputs, taken), name.replace("weight", "bias"): (outputs,)}
        sizes.append(outputs)
    inputs, *hidden, outputs = sizes if len(sizes) > 1 else [*sizes, 0]
    given = header["network"]
    activation, features = given.get("activation"), _part_sizes(given.get("features", {}))
    action_features = _part_sizes(given.get("action_features", {}))
    if action_features:
        expected["action_scale"] = (sum(action_features.values()),)
    described = {"inputs": inputs, "hidden": hidden, "outputs": outputs, "activation": activation}
    described |= {"features": features} if features else {}
    described |= {"action_features": action_features} if action_features else {}
    if history:
        described["history"] = history.describe()
        expected |= {f"history.{name}": tuple(array.shape) for name, array in history.named_parameters()}
    if shapes != expected or given != described or min(sizes) < 1:
        raise ValueError(f"its arrays do not fit its header {given!r:.200}")
    if not isinstance(activation, str):
        raise ValueError(f"activation = {activation!r}, expected a string")
    network = MLP(
        arrays["input_scale"],
        hidden,
        outputs,
        activation,
        action_scale=arrays.get("action_scale"),
        features=features,
        action_features=action_features,
        history=history,
    )
    network.load_state_dict(arrays)
    network.requires_grad_(False)
    return PolicyCheckpoint(file, network, header["game"], header["options"], header["training"])


def _history_encoder(shapes: dict[str, tuple[int, ...]]) -> HistoryEncoder | None:
    """The encoder of histories that arrays of ``shapes`` are for; None without such arrays."""
    scores, ages, values = (
        shapes.get(f"history.{name}") for name in ("token_scores", "age_scores", "token_values")
    )
    if scores is None or ages is None or values is None:
        return None
    if len(scores) != 3 or len(ages) != 2 or len(values) != 3:
        raise ValueError(
            f"history.token_scores, age_scores and token_values are of shape {scores}, {ages}, {values}"
        )
    sizes = scores[0], scores[1] - 1, ages[0], scores[2], values[2]
    wanted = {f"history.{name}": shape for name, shape in weight_shapes(*sizes).items()}
    if any(shapes.get(name) != shape for name, shape in wanted.items()):  # before anything is allocated
        raise ValueError(f"the arrays of its history do not fit each other: expected {wanted}")
    return HistoryEncoder(*sizes)


def _part_sizes(value: object) -> dict[str, int]:
    """The sizes of named features. Raises ``ValueError`` for anything else."""
    if not isinstance(value, dict) or not all(type(size) is int and size > 0 for size in value.values()):
        raise ValueError(f"features = {value!r:.80}, expected names and sizes")
    return value


def _check_fits(checkpoint: PolicyCheckpoint, game: Game) -> None:
    """Raise ``ValueError`` unless the policy may play ``game``."""
    if checkpoint.game_id != game.id:
        raise ValueError(
            f"{checkpoint.path} was trained for the game {checkpoint.game_id!r}, asked to play {game.id!r}: "
            "use a checkpoint of that game"
        )
    sizes = checkpoint.network.describe()
    try:
        wanted = NetworkInputs.of(checkpoint.network, game)
    except ValueError as error:
        if checkpoint.options != game.options:  # then the rules are what has to be told
            wanted = NetworkInputs(game)
        else:
            raise ValueError(f"{checkpoint.path}: {error}; {ANOTHER_CHECKPOINT}") from None
    needed = wanted.size, game.num_actions + wanted.action_size
    same_size = (sizes["inputs"], sizes["outputs"]) == needed
    if checkpoint.options == game.options and same_size:
        return
    if checkpoint.options == game.options:
        raise ValueError(
            f"{checkpoint.path} has {sizes['inputs']} inputs and {sizes['outputs']} outputs, the game {needed[0]} and "
            f"{needed[1]}: it is damaged or was trained with another version; {ANOTHER_CHECKPOINT}"
        )
    differing = differing_options(checkpoint.options, game.options)
    try:
        trained_for = make_game(checkpoint.game_id, **checkpoint.options)
    except (ValueError, AttributeError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(
            f"{checkpoint.path} is damaged or for rules that cannot be played ({error}): {ANOTHER_CHECKPOINT}"
        ) from error
    if same_size and plays_alike(trained_for, game, differing):
        return
    raise ValueError(
        f"{checkpoint.path} was trained for {game.id} with {describe_options(checkpoint.options, differing)}, asked to "
        f"play with {describe_options(game.options, differing)}: use the rules it was trained for, or a checkpoint "
        "trained with these"
    )
