"""Saved games: their header, their checksum, and how damaged ones are refused.

The header names the game, its rules, its reward and the format of its records, so that records of other rules are never
read as records of these. A SHA-256 checksum over header and content finds accidental damage. Anybody can compute a
valid checksum, so `check_records` also accepts only states that can be played to their end without harm: each field
within its bounds, and what the kernel ``check_state`` of the game asks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from catbox_env.core.checks import shown
from catbox_env.core.definition import FORMAT, GameDefinition
from catbox_env.core.kernels import HIDDEN
from catbox_env.core.rng import GENERATOR, MASK32

#: Most generators split off one generator: `split` multiplies their number, and the product has to stay below 2**63.
MAX_CHILDREN = 2**31
#: The longest header that is read, in bytes; headers that are written have a few hundred.
MAX_HEADER = 10_000


def checksum(*parts: bytes | np.ndarray) -> bytes:
    """The SHA-256 digest of ``parts``, each with its length, so that no byte can move from one part to the next."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else np.ascontiguousarray(part).tobytes()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()


def check_header(what: str, header: bytes, game: GameDefinition) -> None:
    """Raise ``ValueError``, naming the difference, unless ``header`` is that of ``game``."""
    own = game.header
    if header == own:
        return
    found = _parsed(header)
    if found is None:
        raise ValueError(f"{what}: the header is damaged; save it again, or use another copy")
    given = found.get("format")
    if given != FORMAT:
        newer = isinstance(given, int) and given > FORMAT
        remedy = (
            "upgrade catbox" if newer else "an older version of catbox wrote it: load it with that version"
        )
        raise ValueError(f"{what}: format {given!r}, expected {FORMAT}; {remedy}")
    if found.get("game") != game.id:
        raise ValueError(f"{what}: a game of {found.get('game')!r}, expected {game.id!r}; make that game")
    options = found.get("options")
    if not isinstance(options, dict):
        raise ValueError(f"{what}: the header is damaged (options={options!r:.80}); use another copy")
    differing = sorted(name for name in {**options, **game.options} if not _same(name, options, game.options))
    if differing:
        differences = ", ".join(
            f"{name}={options.get(name)!r:.80}, expected {game.options.get(name)!r}" for name in differing
        )
        raise ValueError(
            f"{what}: other rules or reward ({differences}); make the game with the same options"
        )
    raise ValueError(f"{what}: another version of catbox wrote it, or another kind of machine; load it there")


def check_same_game(what: str, given: GameDefinition, own: GameDefinition) -> None:
    """Raise ``ValueError``, naming the difference, unless the two games are equal."""
    if given is not own and given != own:
        check_header(what, given.header, own)


def _same(name: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return name in one and name in other and one[name] == other[name]


def _parsed(header: bytes) -> dict[str, Any] | None:
    if len(header) > MAX_HEADER:
        return None
    try:
        found = json.loads(header.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def state_bounds(game: GameDefinition) -> dict[str, tuple[float, float]]:
    """The lowest and highest value of each field of a state: of those of ``core``, and of the game's own."""
    most = np.finfo(np.float32).max
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
    """Raise ``ValueError`` unless every one of these games can be played on.

    ``records`` (N,), ``generators`` (N,) and ``logs`` (N, T, 3) as the batch holds them; T is 0 without histories.
    """
    damaged = np.zeros(len(generators), np.bool_)
    for name, most in (
        ("a", MASK32),
        ("b", MASK32),
        ("c", MASK32),
        ("counter", MASK32),
        ("children", MAX_CHILDREN),
    ):
        damaged |= (generators[name] < 0) | (generators[name] > most)
    if damaged.any():
        raise ValueError(
            f"{what}: the generator of game {int(damaged.argmax())} is damaged; use another copy"
        )
    for name, (low, high) in state_bounds(game).items():
        outside = ~((records[name] >= low) & (records[name] <= high)).reshape(len(records), -1).all(axis=1)
        if outside.any():
            raise ValueError(
                f"{what}: {name!r} of game {int(outside.argmax())} is not within {low} .. {high}; use another copy"
            )
    moverless = (records["current_player"] < 0) != (records["terminated"] != 0)
    row = int(moverless.argmax()) if moverless.any() else int(game.loops.first_refused(game.params, records))
    if row >= 0:
        raise ValueError(f"{what}: game {row} is in a state that cannot be played on; use another copy")
    if logs.shape[1] == 0:
        return
    used = np.arange(logs.shape[1]) < records["num_moves"][:, None]
    seats, actions, seen = (logs[..., i].astype(np.int64) for i in range(3))
    sound = (seats >= 0) & (seats < game.num_players) & (actions >= 0) & (actions < game.num_actions)
    sound &= (seen == actions) | (seen == HIDDEN)
    wrong = (used & ~sound).any(axis=1)
    if wrong.any():
        raise ValueError(f"{what}: the history of game {int(wrong.argmax())} is damaged; use another copy")


def read_saved(
    saved: Mapping[str, np.ndarray], own: Mapping[str, np.ndarray], game: GameDefinition
) -> dict[str, np.ndarray]:
    """Checked copies of the arrays in ``saved``, which a batch wrote; ``own``: the arrays of the batch that reads it.

    Raises ``ValueError`` naming what is wrong.
    """
    what = "saved games"
    expected = ["header", *own, "checksum"]
    if not isinstance(saved, Mapping) or set(saved) != set(expected):
        found = shown(sorted(map(str, saved)) if isinstance(saved, Mapping) else saved)
        raise ValueError(f"{what}: {found}; expected what save() returned, with {', '.join(expected)}")
    header, digest = saved["header"], saved["checksum"]
    for name, array in (("header", header), ("checksum", digest)):
        if not isinstance(array, np.ndarray) or array.dtype != np.uint8 or array.ndim != 1:
            raise ValueError(f"{what}: {name!r} is damaged; use another copy")
    check_header(what, header.tobytes(), game)
    given: dict[str, np.ndarray] = {}
    for name, array in own.items():
        other = saved[name]
        if not isinstance(other, np.ndarray) or (other.shape, other.dtype) != (array.shape, array.dtype):
            found = f"{other.dtype} {other.shape}" if isinstance(other, np.ndarray) else type(other).__name__
            raise ValueError(
                f"{what}: {name!r} is {found}, expected {array.dtype} {array.shape}: make the batch with the "
                f"same game, num_envs and history as the one that was saved"
            )
        given[name] = other.copy()  # so that nothing can change after it was checked
    if digest.tobytes() != checksum(header, *given.values()):
        raise ValueError(f"{what}: damaged (the checksum does not fit); use another copy")
    for name in ("terminated", "round_ended"):
        if (given[name].view(np.uint8) > 1).any():
            raise ValueError(f"{what}: {name!r} holds values other than True and False; use another copy")
    for name in ("rewards", "win_shares"):
        if not np.isfinite(given[name]).all():
            raise ValueError(f"{what}: {name!r} holds numbers that are not finite; use another copy")
    check_records(
        what,
        game,
        given["records"].view(game.state_dtype),
        given["generators"].view(GENERATOR),
        given["logs"],
    )
    return given
