"""Saved games: header, checksum, and the rejection of damaged ones.

The header names the game, its rules, its reward and the format of its records, so that records of other rules are never
read as records of these. A SHA-256 checksum over header and content detects damage. Anybody can compute a valid
checksum, so `check_records` accepts only states that can safely be played to the end: each field is within its bounds,
and the game's kernel ``check_state`` accepts the state. It does not check whether the position is reachable.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

import numpy as np

from catbox_env.core.checks import brief
from catbox_env.core.definition import FORMAT, GameDefinition
from catbox_env.core.kernels import HIDDEN
from catbox_env.core.rng import GENERATOR, MASK32

#: Bounds of the fields of a generator. `split` multiplies the number of children, and the product must stay below
#: 2**63.
GENERATOR_BOUNDS = {**dict.fromkeys(("a", "b", "c", "counter"), (0, MASK32)), "children": (0, 2**31)}


def checksum(*parts: bytes | np.ndarray) -> bytes:
    """The SHA-256 digest of ``parts``, each with its length, so that no byte can move from one part to the next."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else np.ascontiguousarray(part).tobytes()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()


def check_origin(
    what: str, game: GameDefinition, digest: bytes, header: bytes, *content: bytes | np.ndarray
) -> None:
    """Raise ``ValueError`` unless ``header`` and ``content`` are undamaged and of ``game``."""
    if digest != checksum(header, *content):
        raise ValueError(f"{what}: damaged (the checksum does not match); use another copy")
    check_header(what, header, game)


def check_same_game(what: str, given: GameDefinition, own: GameDefinition) -> None:
    """Raise ``ValueError``, naming the difference, unless the two games are equal."""
    if given is not own and given != own:
        check_header(what, given.header, own)


def check_header(what: str, header: bytes, game: GameDefinition) -> None:
    """Raise ``ValueError``, naming the difference, unless ``header`` is that of ``game``."""
    if header == game.header:
        return
    try:
        found = json.loads(header)
        given, options = found["format"], {**found["options"]}
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError(f"{what}: not a catbox header; use another copy") from None
    if given != FORMAT:
        raise ValueError(
            f"{what}: format {brief(given)}, expected {FORMAT}; load it with the version of catbox that wrote it"
        )
    if found.get("game") != game.id:
        raise ValueError(
            f"{what}: a game of {brief(found.get('game'))}, expected {game.id!r}; make that game"
        )
    differing = [
        f"{name}={brief(options.get(name))}, expected {game.options.get(name)!r}"
        for name in sorted({**options, **game.options})
        if options.get(name) != game.options.get(name)
    ]
    if differing:
        raise ValueError(
            f"{what}: other rules or reward ({', '.join(differing)}); make the game with the same options"
        )
    raise ValueError(
        f"{what}: written by another version of catbox or on another kind of machine; load it there"
    )


def state_bounds(game: GameDefinition) -> dict[str, tuple[float, float]]:
    """The lowest and highest value of each field of a state: those of ``core`` and the game's own."""
    most = float(np.finfo(np.float32).max)
    return {
        "current_player": (-1, game.num_players - 1),
        "terminated": (0, 1),
        "round_ended": (0, 1),
        "rewards": (-most, most),  # finite
        "returns": (-most, most),
        "win_shares": (0, 1),
        "num_moves": (0, game.history_length),
        "rounds_ended": (0, game.history_length),
        **game.state_bounds,
    }


def check_records(
    what: str, game: GameDefinition, records: np.ndarray, generators: np.ndarray, logs: np.ndarray
) -> None:
    """Raise ``ValueError`` unless every one of these games can continue.

    ``records`` (N,), ``generators`` (N,) and ``logs`` (N, T, 3) as the batch holds them; T is 0 without histories.
    """
    for array, bounds in ((generators, GENERATOR_BOUNDS), (records, state_bounds(game))):
        for name, (low, high) in bounds.items():
            outside = ~((array[name] >= low) & (array[name] <= high)).reshape(len(array), -1).all(axis=1)
            if outside.any():
                raise ValueError(
                    f"{what}: {name!r} of game {int(outside.argmax())} is not within {low} .. {high}; use another copy"
                )
    moverless = (records["current_player"] < 0) != (records["terminated"] != 0)
    row = int(moverless.argmax()) if moverless.any() else int(game.loops.first_refused(game.params, records))
    if row >= 0:
        raise ValueError(f"{what}: game {row} is in a state that cannot continue; use another copy")
    seats, actions, seen = (logs[..., i].astype(np.int64) for i in range(3))
    used = np.arange(logs.shape[1]) < records["num_moves"][:, None]
    valid = (seats >= 0) & (seats < game.num_players) & (actions >= 0) & (actions < game.num_actions)
    valid &= (seen == actions) | (seen == HIDDEN)
    wrong = (used & ~valid).any(axis=1)
    if wrong.any():
        raise ValueError(f"{what}: the history of game {int(wrong.argmax())} is damaged; use another copy")


def read_saved(
    saved: Mapping[str, np.ndarray], own: Mapping[str, np.ndarray], game: GameDefinition
) -> dict[str, np.ndarray]:
    """Checked copies of the arrays in ``saved``, written by a batch; ``own``: the arrays of the batch that reads it.

    Raises ``ValueError`` naming what is wrong.
    """
    what = "saved games"
    expected = ["header", *own, "checksum"]
    arrays = isinstance(saved, Mapping) and all(isinstance(array, np.ndarray) for array in saved.values())
    if not arrays or set(saved) != set(expected):
        found = brief(sorted(map(str, saved)) if isinstance(saved, Mapping) else saved)
        raise ValueError(f"{what}: {found}; expected what save() returned, arrays {', '.join(expected)}")
    given = {name: saved[name].copy() for name in own}  # so that nothing can change after the check
    check_origin(what, game, saved["checksum"].tobytes(), saved["header"].tobytes(), *given.values())
    for name, array in given.items():
        if (array.shape, array.dtype) != (own[name].shape, own[name].dtype):
            raise ValueError(
                f"{what}: {name!r} is {array.dtype} {array.shape}, expected {own[name].dtype} {own[name].shape}: make "
                "the batch with the same game, num_envs and history as the one that was saved"
            )
    records, generators = given["records"].view(game.state_dtype), given["generators"].view(GENERATOR)
    check_records(what, game, records, generators, given["logs"])
    return given
