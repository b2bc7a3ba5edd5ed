"""The checkpoint file of a trained network.

A policy checkpoint is one safetensors file (see ``array_file``): named arrays, described by a JSON text in its header.
Reading it runs no code.

    key of the header   "catbox": {"format", "game", "options", "network": {...}, "training": {...}, "outputs"}
    arrays              "input_scale" (I,), "layers.<k>.weight" (out, in), "layers.<k>.bias" (out,); with an
                        action head "action_scale" (K,); with a critic "critic.weight" (1, H) and "critic.bias" (1,);
                        or those of a network of your own; all float32, or all float16 for half the size: they are read
                        as float32
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.adaptation import Adaptation, adaptation
from catbox_agents.agent import other_rules
from catbox_agents.imports import import_name, is_class, with_code
from catbox_agents.networks.array_file import array_file_bytes, read_arrays, read_header
from catbox_agents.networks.inputs import fit_network
from catbox_agents.networks.numpy_network import MAX_ARRAYS, NumpyMLP, PlayingNetwork
from catbox_agents.system.files import check_format, parse_json, write_atomically
from catbox_env import Game, make_game

#: The value of "format" in the header. Its number increases when older files can no longer be read.
FORMAT = "catbox-policy-1"
#: What a network outputs for each action: the logits of a policy, or the values of the actions.
LOGITS, VALUES = "logits", "values"
POLICY_FILE = "policy.safetensors"
CHECKPOINTS_FOLDER = "checkpoints"
ANOTHER_CHECKPOINT = "use another checkpoint, for example the one before it in the same run"


@dataclass(frozen=True)
class PolicyCheckpoint:
    """The content of a policy checkpoint: the network, the game it was trained for, and facts about the training.

    ``outputs``: what the network outputs for each action, `LOGITS` or `VALUES`; ``adapted``: how it plays the game for
    which it was loaded; None if it was trained for that game's rules.
    """

    path: Path
    network: PlayingNetwork
    game_id: str
    options: dict[str, Any]
    training: dict[str, Any]
    outputs: str = LOGITS
    adapted: Adaptation | None = None


def save_checkpoint(
    path: str | os.PathLike[str],
    network: Any,
    game: Game,
    training: dict[str, Any] | None = None,
    half: bool = False,
    outputs: str = LOGITS,
) -> None:
    """Write ``network``, a `PlayingNetwork` or a `catbox_agents.networks.network.Network`, as a policy checkpoint for
    ``game``.

    Args:
        training: any JSON values, for the caller; a training run gives ``algorithm``, ``update`` and ``decisions``, and
            for its best policy ``margin``.
        half: write float16, which has about three digits, no number over 65,504, and 0 for those under 3e-8. Not for
            files from which training resumes.
        outputs: what the network outputs for each action, `LOGITS` or `VALUES`.

    Raises ``ValueError`` for weights that are not finite, or not in float16, ``OSError`` if the file cannot be written.
    """
    header = {
        "format": FORMAT,
        "game": game.id,
        "options": game.options,
        "network": network.describe(),
        "training": training or {},
        "outputs": outputs,
    }
    arrays: dict[str, NDArray[Any]] = {}
    for name, array in network.arrays().items():
        if not np.isfinite(array).all():
            raise ValueError(f"{path} was not written: {name} holds numbers that are not finite")
        with np.errstate(over="ignore"):
            arrays[name] = array.astype(np.float16) if half else array
        if not np.isfinite(arrays[name]).all():
            raise ValueError(
                f"{path} was not written: {name} holds {np.abs(array).max():g}, more than float16 has: write float32"
            )
    write_atomically(Path(path), array_file_bytes(arrays, {"catbox": json.dumps(header)}))


def find_policy(path: str | os.PathLike[str]) -> Path:
    """The policy file at ``path``: the file itself, the one in a checkpoint folder, or the latest in a run folder.

    Raises ``FileNotFoundError`` if there is none.
    """
    place = Path(path)
    if place.is_file():
        return place
    if (place / POLICY_FILE).is_file():
        return place / POLICY_FILE
    if latest := latest_checkpoint(place):
        if not (latest / POLICY_FILE).is_file():
            raise FileNotFoundError(
                f"{latest} holds no {POLICY_FILE}: {ANOTHER_CHECKPOINT}. An algorithm of your own must save one, with "
                "catbox_agents.save_policy, if its run is to be an agent"
            )
        return latest / POLICY_FILE
    what = "holds no policy checkpoint" if place.is_dir() else "does not exist"
    raise FileNotFoundError(
        f"{place} {what}: give a {POLICY_FILE}, a checkpoint folder, or the folder of a training run"
    )


def latest_checkpoint(run: str | os.PathLike[str]) -> Path | None:
    """The folder of the latest checkpoint of a training run, or None."""
    return max(numbered_checkpoints(run), key=lambda folder: int(folder.name), default=None)


def numbered_checkpoints(run: str | os.PathLike[str]) -> list[Path]:
    """The checkpoint folders of a training run, oldest first. A folder is renamed to its number once it is complete."""
    parent = Path(run) / CHECKPOINTS_FOLDER
    if not parent.is_dir():
        return []
    try:
        folders = [folder for folder in parent.iterdir() if _is_number(folder.name) and folder.is_dir()]
    except OSError as error:
        raise OSError(f"{parent} cannot be read ({error.strerror or error}): make it readable") from error
    return sorted(folders, key=lambda folder: int(folder.name))


def _is_number(name: str) -> bool:
    """Whether ``name`` is a number as training writes it; ``str.isdigit`` alone also accepts ``"²"``."""
    return name.isascii() and name.isdigit() and name == f"{int(name):08d}"


def load_checkpoint(
    path: str | os.PathLike[str],
    game: Game | None = None,
    *,
    adapt: bool = False,
    modules: Sequence[str] = (),
) -> PolicyCheckpoint:
    """Read a policy checkpoint: a file, a checkpoint folder, or a run folder (its latest checkpoint).

    A network or features of your own are code, which runs only if it is in one of ``modules``, or in a module of one
    that is a package. ``game``, if given, must be the game that the policy was trained for, with the same
    options; the reward, the number of rounds and the start player may differ if the observation has the same parts.
    With ``adapt``, the rules may also be part of those it was trained for. Raises ``FileNotFoundError`` if there is no
    checkpoint, another ``OSError`` if it cannot be read, ``ValueError`` if it is damaged, has another format, is for
    another game or rule set, or is code of other modules.

    With ``game``, the network takes all features that the game has now: those that it was trained without have weights
    of zero.
    """
    file = find_policy(path)
    try:
        checkpoint = _read_checkpoint(file, modules)
    except _OtherFormat as error:
        raise ValueError(str(error)) from None
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{file} does not exist: {ANOTHER_CHECKPOINT}") from error
    except OSError as error:
        raise OSError(f"{file} cannot be read ({error.strerror or error}): {ANOTHER_CHECKPOINT}") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"{file} is damaged ({error}): {ANOTHER_CHECKPOINT}") from error
    if game is not None:
        adapted = _adapted(checkpoint, game, adapt)
        try:
            network, _ = fit_network(checkpoint.network, game if adapted is None else adapted.original)
        except ValueError as error:
            raise ValueError(f"{checkpoint.path}: {error}; {ANOTHER_CHECKPOINT}") from None
        return replace(checkpoint, network=network, adapted=adapted)
    return checkpoint


class _OtherFormat(Exception):
    """The file could be read, but has another format. The text of this error is the complete message."""


def _read_checkpoint(path: Path, modules: Sequence[str]) -> PolicyCheckpoint:
    """The checkpoint; ``modules`` are those whose code may run."""
    header, arrays = _read(path)
    described = header["network"]
    code = [described[name] for name in ("class", "features_from") if name in described]
    for name in code:
        if not (isinstance(name, str) and is_class(name)):
            raise ValueError(f"it names the code {name!r:.80}, expected package.module:Name")
        owner = name.partition(":")[0]
        if not any(f"{owner}.".startswith(f"{module}.") for module in modules):
            raise _OtherFormat(
                f"{path} has a network or features that are code, {', '.join(code)}, and loading it would run that: "
                f"if you trust it, write {with_code(path, code)}"
            )
        try:
            import_name(name, "code")
        except ValueError as error:
            raise _OtherFormat(f"{path} cannot be loaded: {error}") from None
    network: PlayingNetwork
    if "class" in described:
        from catbox_agents.networks.network import build_playing_network  # needs torch

        network = build_playing_network(arrays, described, make_game(header["game"], **header["options"]))
    else:
        network = NumpyMLP(arrays, described)
    return PolicyCheckpoint(
        path, network, header["game"], header["options"], header["training"], header["outputs"]
    )


def _read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[np.float32]]]:
    """Header and arrays of a policy file. Raises ``ValueError`` if it is damaged."""
    with open(path, "rb") as file:
        content = read_header(file)
        header = parse_json(content.metadata.get("catbox", "null"))
        try:
            file_format = header.get("format") if isinstance(header, dict) else None
            check_format(str(path), file_format, FORMAT, f"it is not a catbox policy; {ANOTHER_CHECKPOINT}")
        except ValueError as error:
            raise _OtherFormat(str(error)) from None
        for name, kind in (("network", dict), ("game", str), ("options", dict), ("training", dict)):
            if not isinstance(header.get(name), kind):
                raise ValueError(f"{name} = {header.get(name)!r:.80}, expected {kind.__name__}")
        if header.setdefault("outputs", LOGITS) not in (LOGITS, VALUES):
            raise ValueError(f"outputs = {header['outputs']!r:.80}, expected {LOGITS!r} or {VALUES!r}")
        return header, read_arrays(file, content, MAX_ARRAYS)


def _adapted(checkpoint: PolicyCheckpoint, game: Game, adapt: bool) -> Adaptation | None:
    """How the policy is adapted to ``game``, if that is needed. Raises ``ValueError`` if it cannot play it."""
    if (checkpoint.game_id, checkpoint.options) != (game.id, game.options):
        try:
            trained_for = make_game(checkpoint.game_id, **checkpoint.options)
        except (ValueError, AttributeError, TypeError, OverflowError, RecursionError) as error:
            raise ValueError(
                f"{checkpoint.path} is damaged or for rules that cannot be played ({error}): {ANOTHER_CHECKPOINT}"
            ) from error
        if other := other_rules(trained_for, game):
            if adapt and (adapted := adaptation(trained_for, game)):
                return adapted
            raise ValueError(
                f"{checkpoint.path} was trained for {other}: use the rules it was trained for, or a checkpoint trained "
                "with these"
            )
    return None
