"""Writes games as a Parquet file with its card, and as a Minari data set. It needs the extra ``data``."""

from __future__ import annotations

import json
import shutil
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import catbox_env
from catbox_agents.arena.report import markdown_table
from catbox_agents.dataset.game_data import Chunk, GameData
from catbox_agents.system.files import unfinished, write_atomically, writing, writing_atomically, writing_name
from catbox_env import Game
from catbox_env.core.checks import check_instance, check_path, short_repr
from catbox_env.core.extras import missing_extra
from catbox_env.registration import gymnasium_id

DATA_FILE, CARD_FILE = "decisions.parquet", "README.md"
#: Rows of `DATA_FILE` that are written at once: the texts of their deals are in memory.
ROWS = 1 << 13
COLUMNS = {
    "game": "number of the game",
    "seat": "who decides",
    "move": "place of the action among all of the game, from 0",
    "observation": "what the seat sees, int8, as `game.observation_layout` describes it",
    "action_mask": "the legal actions",
    "action": "what it did",
    "reward": "what it was paid from this decision to its next one or the end",
    "terminated": "whether this is its last decision in the game",
    "return": "what it was paid in the whole game",
    "agent": "who decided",
    "agents": "the agent in each seat",
    "deal": "JSON: the deal of each round, as `new_initial_state(deal=...)` takes it",
}


@dataclass
class _Totals:
    """What the card says of all games."""

    games: int = 0
    decisions: int = 0
    idle: int = 0
    returns: Counter[str] = field(default_factory=Counter)
    seats: Counter[str] = field(default_factory=Counter)

    def add(self, chunk: Chunk) -> None:
        self.games += len(chunk.deals)
        self.decisions += len(chunk.action)
        self.idle += chunk.returns.size - len(chunk.episodes())
        for agents, returns in zip(chunk.agents, chunk.returns.tolist(), strict=True):
            for agent, paid in zip(agents, returns, strict=True):
                self.returns[agent] += paid
                self.seats[agent] += 1


def write_dataset(
    data: GameData,
    output: Path | str | None = None,
    minari_id: str | None = None,
    license: str = "mit",
    progress: Callable[[int, int | None], None] | None = None,
) -> str:
    """Write the games and return their card.

    Args:
        data: what `play_games` or `read_games` returns.
        output: a folder for ``decisions.parquet``, a row for each decision, and the card, ``README.md``.
        minari_id: the id of a new Minari data set, such as ``"catbox/zoo-v0"``, in which every seat of a game is an
            episode; Minari keeps it in its own folder (``MINARI_DATASETS_PATH``).
        license: for the card, as model hubs name it.
        progress: called with (games written, games in total or None).

    What a process that was killed has left of a data set in the same place is removed.

    Raises ``ValueError`` if neither place is given, one holds a data set already, the id is none, or there are no games
    (nothing is written then), ``OSError`` for a file that cannot be written, ``ModuleNotFoundError`` without the extra
    ``data``.
    """
    if output is None and minari_id is None:
        raise ValueError(
            "output=None and minari_id=None: give a folder, the id of a Minari data set, or both"
        )
    check_instance("data", data, GameData, "what play_games or read_games returns")
    totals = _Totals()

    def counted(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            totals.add(chunk)
            yield chunk
            if progress is not None:
                progress(totals.games, data.num_games)
        if not totals.games:
            raise ValueError("there is no finished game to write")

    chunks = counted(data.chunks)
    folder = None if output is None else check_path("output", output)
    if folder is not None:
        if (folder / DATA_FILE).exists() or (folder / CARD_FILE).exists():
            raise ValueError(f"{folder} holds a data set already: give another folder")
        chunks = _to_parquet(chunks, folder, data.game)
    if minari_id is None:
        for _ in chunks:  # writing them
            pass
        card = _card(data, totals, license)
    else:
        with _writing_minari(minari_id):
            stored = _to_minari(chunks, minari_id, data)
            card = _card(data, totals, license)
            stored.storage.update_metadata({"description": card})
    if folder is not None:
        write_atomically(folder / CARD_FILE, card.encode())
    return card


def _to_parquet(chunks: Iterator[Chunk], folder: Path, game: Game) -> Iterator[Chunk]:
    """Writes the ``chunks`` that it passes on."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise missing_extra(error, "writing Parquet", "data") from error

    def rows(values: NDArray[Any]) -> Any:
        """(N, K) as a column of lists."""
        kind = pa.list_(pa.from_numpy_dtype(values.dtype), values.shape[1])
        return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), type=kind)

    def repeated(values: list[str], places: NDArray[np.int64]) -> Any:
        """A column in which many rows have the same of a few values, each in memory once."""
        return pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32)), pa.array(values))

    folder.mkdir(parents=True, exist_ok=True)
    writer = None
    about = {"game": game.id, "options": game.options, "catbox": catbox_env.__version__}
    with writing_atomically(folder / DATA_FILE) as file, ExitStack() as opened:
        for chunk in chunks:
            names = sorted({name for agents in chunk.agents for name in agents})
            place = np.array([[names.index(name) for name in agents] for agents in chunk.agents])
            terminated = np.ones(len(chunk.action), np.bool_)
            terminated[:-1] = (np.diff(chunk.game) != 0) | (np.diff(chunk.seat) != 0)
            table = pa.table(
                {
                    "game": pa.array((chunk.first + chunk.game).astype(np.int64)),
                    "seat": pa.array(chunk.seat.astype(np.int8)),
                    "move": pa.array(chunk.move.astype(np.int32)),
                    "observation": rows(chunk.observation),
                    "action_mask": rows(chunk.action_mask),
                    "action": pa.array(chunk.action),
                    "reward": pa.array(chunk.reward),
                    "terminated": pa.array(terminated),
                    "return": pa.array(chunk.returns[chunk.game, chunk.seat]),
                    "agent": repeated(names, place[chunk.game, chunk.seat]),
                    "agents": pa.array(chunk.agents).take(pa.array(chunk.game)),
                    "deal": repeated(chunk.deals, chunk.game),
                }
            ).replace_schema_metadata({"catbox": json.dumps(about)})
            if writer is None:
                columns = [  # Parquet itself finds what repeats
                    each.with_type(each.type.value_type) if pa.types.is_dictionary(each.type) else each
                    for each in table.schema
                ]
                plain = pa.schema(columns, table.schema.metadata)
                writer = opened.enter_context(parquet.ParquetWriter(file, plain, compression="zstd"))
            for first in range(0, len(table), ROWS):
                writer.write_table(table.slice(first, ROWS).cast(plain))
            yield chunk


@contextmanager
def _writing_minari(minari_id: str) -> Iterator[None]:
    """In the block a new Minari data set is written. It is removed if there is an error.

    A file beside it says so until it is complete: if the process is killed, the next one that writes there removes it.
    Raises ``ValueError`` for an id that is none, or one of a complete data set.
    """
    try:
        from minari.dataset.minari_dataset import parse_dataset_id
        from minari.storage import get_dataset_path
    except ModuleNotFoundError as error:
        raise missing_extra(error, "writing a Minari data set", "data") from error
    try:
        parse_dataset_id(minari_id)
    except (TypeError, ValueError):  # TypeError: it has no version
        raise ValueError(
            f"minari_id={short_repr(minari_id)}: expected NAME-vVERSION or NAMESPACE/NAME-vVERSION, of letters, "
            "digits, - and _, such as 'catbox/zoo-v0'"
        ) from None
    path = get_dataset_path(minari_id)
    for leftover in unfinished(path):
        shutil.rmtree(path, ignore_errors=True)
        leftover.unlink()
    if path.exists():
        raise ValueError(
            f"the Minari data set {minari_id} already exists: give another id, such as a new version"
        )
    marker = writing_name(path)
    with writing(marker):
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    try:
        with writing(path):
            yield
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    finally:
        marker.unlink()


def _to_minari(chunks: Iterator[Chunk], minari_id: str, data: GameData) -> Any:
    """The new Minari data set."""
    import gymnasium  # slow, like Minari, which is in the extra data
    import minari
    from minari.data_collector import EpisodeBuffer

    def episodes(file: _HDF5File) -> Iterator[Any]:
        for chunk in chunks:
            for rows in chunk.episodes():
                game, seat = int(chunk.game[rows.start]), int(chunk.seat[rows.start])
                steps = rows.stop - rows.start
                masks = np.zeros((steps + 1, chunk.action_mask.shape[1]), np.int8)
                masks[:-1] = chunk.action_mask[rows]
                of_the_episode = {
                    "seat": seat,
                    "return": chunk.returns[game, seat],
                    "agents": json.dumps(chunk.agents[game]).encode(),
                    "deal": chunk.deals[game].encode(),
                }
                yield EpisodeBuffer(
                    observations={
                        "observation": np.concatenate(
                            [chunk.observation[rows], chunk.last[game, seat][None]]
                        ),
                        "action_mask": masks,
                    },
                    actions=chunk.action[rows],
                    rewards=chunk.reward[rows],
                    terminations=np.arange(steps) == steps - 1,
                    truncations=np.zeros(steps, np.bool_),
                    infos={name: np.array([value]) for name, value in of_the_episode.items()},
                )
                file.raise_error()

    env = gymnasium.make(gymnasium_id(data.game.id), mask_in_observation=True, **data.game.options)
    about = {"algorithm_name": data.about["agents"], "requirements": ["catbox-env"]}
    with warnings.catch_warnings():
        # It asks for an author and a link, which the user may add.
        warnings.filterwarnings("ignore", category=UserWarning, module="minari")
        stored = minari.create_dataset_from_buffers(minari_id, [], env=env, **about)
    storage: Any = stored.storage
    path = storage._file_path
    with writing(path), _HDF5File(path, "r+b") as file:
        storage._file_path = file
        try:
            storage.update_episodes(episodes(file))
        finally:
            file.raise_error()
    storage._file_path = path
    return stored


class _HDF5File(FileIO):
    """A file that HDF5 writes. HDF5 crashes the process after an error, so it learns of none: `raise_error` does."""

    _error: OSError | None = None

    def write(self, data: Any) -> int:
        rest = memoryview(data)
        with self._hidden_errors():
            while rest and self._error is None:
                rest = rest[super().write(rest) :]
        return len(data)

    def truncate(self, size: int | None = None) -> int:
        with self._hidden_errors():
            super().truncate(size)
        return self.tell() if size is None else size

    def raise_error(self) -> None:
        """Raise the first error of writing, if there was one."""
        if self._error is not None:
            raise self._error

    @contextmanager
    def _hidden_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._error = self._error or error


def _card(data: GameData, totals: _Totals, license: str) -> str:
    """Markdown with the front matter that hubs read."""
    game = data.game
    rules = ", ".join(
        f"{name}={short_repr(value)}" for name, value in game.options.items() if name != "reward"
    )
    means = ", ".join(
        f"`{agent}` {totals.returns[agent] / totals.seats[agent]:+.3f}" for agent in sorted(totals.seats)
    )
    lines = {
        "game": f"`{game.id}`",
        "rules": rules,
        "reward": f"`{game.options['reward']}`",
        **data.about,
        "games": f"{totals.games:,}",
        "decisions": f"{totals.decisions:,}",
        "mean return of a seat": means,
        "licence": license,
        "written by": f"catbox {catbox_env.__version__}",
    }
    if data.left_out:
        lines["left out"] = f"{data.left_out:,} unfinished games"
    if totals.idle:
        lines["without a decision"] = f"{totals.idle:,} seats, whose payments are in no row"
    front = {
        "license": license,
        "task_categories": "[reinforcement-learning]",
        "tags": "[offline-rl, imitation-learning, card-games, catbox]",
    }
    return "\n".join(
        [
            "---",
            *(f"{name}: {value}" for name, value in front.items()),
            "---",
            f"# Games of {game.id}",
            "",
            markdown_table([["", ""], *([name, text] for name, text in lines.items())]),
            "",
            "A row of `decisions.parquet`, or a step of the Minari data set, is one decision:",
            "",
            markdown_table(
                [["column", "what it is"], *([f"`{name}`", text] for name, text in COLUMNS.items())]
            ),
            "",
        ]
    )
