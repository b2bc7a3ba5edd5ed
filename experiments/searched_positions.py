"""Searches positions of Cat in the Box, for studies of what a network lacks.

In the games every seat samples its actions from the policy of the zoo agent. Half of the decisions with a choice, drawn
at random, are searched: every legal action is tried in worlds weighted as ``search:policy=zoo`` weights them, and the
zoo agent plays on for all seats. A search gets the observation, the mask and the history of the seat to move.

    python -m experiments.searched_positions FOLDER

writes chunks of games of 2 and of 3 players in turn, each into a file FOLDER/{2p,3p}/chunk_NNNNN.npz, until there are
enough positions. `chunks` and `read` read the files, which
experiments/results/searched/README.md describes. A chunk depends on nothing
but its number and the number of players. Stop it at any time: the same command continues with the first missing chunk.
While there is a file FOLDER/PAUSE, it waits.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import catbox_env
from catbox_agents import zoo
from catbox_agents.agent import sample_actions
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_agents.play import END_OF_ROUND
from catbox_agents.search.agents import BETA, EFFECTIVE, PROPOSALS
from catbox_agents.search.playing import Player, action_rewards
from catbox_agents.search.posterior import likelihoods, powers, random_units, resample
from catbox_agents.search.rollout import EPSILON
from catbox_agents.search.tallies import WeightedTallies
from catbox_agents.search.worlds import distinct, row_generators, sample_worlds
from catbox_env import Vec, make_game

#: Worlds sampled and weighted for each position, as for a search with 64 worlds: `PROPOSALS` for each of them.
SAMPLED = 64 * PROPOSALS
#: `BETA` is lowered for a position until this many of them are effective.
LEAST_EFFECTIVE = EFFECTIVE * SAMPLED / PROPOSALS
#: By number of players, the worlds in which the actions are tried. With 2 players all, because few of them differ; with
#: 3 players those that are drawn from them by weight.
TRIED = {2: SAMPLED, 3: 64}
#: By number of players, the games of a chunk: about 1,250 positions.
GAMES = {2: 156, 3: 96}
#: The share of the decisions with a choice that is searched.
SHARE = 0.5
#: Positions searched together. The results do not depend on it.
AT_ONCE = 32
#: Positions for each number of players: first as many as the first number says, then the second.
GOALS = (150_000, 300_000)
#: The least log-probability of the policy that is kept.
LEAST_LOG = -60.0
#: In the files, expected numbers of cards count in this unit.
CARDS = 0.02
#: The entropy of all seeds and the beginning of their keys: no set of deals and no training run has them.
SEED, KEY = 2026, 44
#: Seconds between two looks whether the pause is over.
PAUSE = 5.0


class Positions(NamedTuple):
    """Decisions of n positions: what the seat to move saw, its policy, and what happened."""

    observation: NDArray[np.int8]  # (n, O)
    mask: NDArray[np.bool_]  # (n, A)
    history: NDArray[np.int8]  # (n, T, 2)
    policy: NDArray[np.float32]  # (n, A)
    game: NDArray[np.int64]  # (n,) in the chunk
    move: NDArray[np.int64]  # (n,) actions before it in the game
    seat: NDArray[np.int64]  # (n,)
    action: NDArray[np.int64]  # (n,) the sampled one
    final: NDArray[np.float64]  # (n,) what the seat got at the end of the game


class Found(NamedTuple):
    """What searches of n positions found."""

    value: NDArray[np.float64]  # (n, A)
    error: NDArray[np.float64]  # (n, A)
    visits: NDArray[np.int64]  # (n, A)
    hands: NDArray[np.float64]  # (n, P, R) expected cards by relative seat and rank
    discards: NDArray[np.float64]  # (n, P, R)
    effective: NDArray[np.float64]  # (n,) effective number of the sampled worlds
    power: NDArray[np.float64]  # (n,) of the likelihood in their weights
    different: NDArray[np.int64]  # (n,) number of different ones among them


class Searcher:
    """Makes positions of games with ``players`` players, and searches them."""

    def __init__(self, players: int) -> None:
        self.players = players
        agent = zoo.zoo_agent(f"{zoo.PREFIX}cat_in_the_box-{players}p")
        agent.check()
        self.game = make_game(agent.game_id, **{**agent.options, "reward": "margin"})
        self.agent = PolicyAgent.load(agent.path, self.game)
        self.player = Player(self.agent, agent.spec)
        self.tried = TRIED[players]
        settings = {
            "commit": commit(),
            "game": self.game.id,
            "options": self.game.options,
            "actions": self.game.num_actions,
            "agent": agent.spec,
            "sha256": agent.sha256,
            "temperature": 1,
            "share": SHARE,
            "games": GAMES[players],
            "seed": [SEED, KEY],
            "beta": BETA,
            "epsilon": EPSILON,
            "sampled": SAMPLED,
            "least_effective": LEAST_EFFECTIVE,
            "tried": self.tried,
            "cards": CARDS,
        }
        #: What the chunks depend on, as JSON.
        self.settings = json.dumps(settings)

    def seed(self, chunk: int, *key: int) -> np.random.SeedSequence:
        """The seed ``key`` of a chunk."""
        return np.random.SeedSequence(SEED, spawn_key=(KEY, self.players, chunk, *key))

    def chunk(self, number: int, folder: Path) -> dict[str, Any]:
        """The arrays of chunk ``number``; waits before a search while ``folder`` has a file PAUSE."""
        played = self.play(number)
        seeds = [self.seed(number, 2, *key) for key in zip(played.game, played.move, strict=True)]
        found = []
        for begin in range(0, len(seeds), AT_ONCE):
            while (folder / "PAUSE").exists():
                time.sleep(PAUSE)
            some = slice(begin, begin + AT_ONCE)
            found.append(
                self.search(played.observation[some], played.mask[some], played.history[some], seeds[some])
            )
        return packed(played, Found._make(map(np.concatenate, zip(*found, strict=True))))

    def play(self, number: int) -> Positions:
        """Play the games of chunk ``number``. Returns the decisions to search, game by game."""
        games = Vec(self.game, GAMES[self.players], seed=self.seed(number, 0), auto_deal=False, history=True)
        rng = np.random.default_rng(self.seed(number, 1))
        paid = np.zeros(games.rewards.shape)
        running = np.arange(games.num_envs)
        steps: list[Positions] = []
        while len(running):
            seen, masks = games.observation[running], games.action_mask[running]
            policies = self.agent.policy_batch(seen, masks)
            actions = sample_actions(policies, rng.random(len(running)))
            kept = (masks.sum(axis=1) > 1) & (rng.random(len(running)) < SHARE)
            rows, seats = running[kept], games.current_player[running[kept]].astype(np.int64)
            moves = np.full(len(rows), len(steps))
            steps.append(
                Positions(
                    seen[kept],
                    masks[kept],
                    games.history[rows],
                    policies[kept],
                    rows,
                    moves,
                    seats,
                    actions[kept],
                    np.zeros(len(rows)),
                )
            )
            games.step(actions, running)
            paid[running] += games.rewards[running]
            running = running[~games.terminated[running]]
        together = Positions._make(map(np.concatenate, zip(*steps, strict=True)))
        order = np.argsort(together.game, kind="stable")
        ordered = Positions._make(array[order] for array in together)
        return ordered._replace(final=paid[ordered.game, ordered.seat])

    def search(
        self,
        observations: NDArray[np.int8],
        masks: NDArray[np.bool_],
        histories: NDArray[np.int8],
        seeds: list[np.random.SeedSequence],
    ) -> Found:
        """Search n positions: (n, O), (n, A), (n, T, 2), and a seed for each.

        The same numbers as of a `RolloutSearch` with the flat schedule, which computes equal worlds repeatedly.
        """
        rows = np.arange(len(observations))
        sampled, tried = np.full(len(rows), SAMPLED), np.full(len(rows), self.tried)
        generators = row_generators(list(seeds), len(rows))
        worlds = sample_worlds(self.game, observations, masks, rows, sampled, generators, 1)
        row_of_sampled, row_of_tried = np.repeat(rows, sampled), np.repeat(rows, tried)
        records = worlds._bytes.copy()
        first, group = distinct(row_of_sampled, records)
        worlds, row_of_world = worlds.take(first), row_of_sampled[first]
        logs = likelihoods(worlds, histories, row_of_world, [self.player], EPSILON).worlds[group]
        power = powers(logs, sampled, BETA, np.full(len(rows), LEAST_EFFECTIVE))
        logs *= power[row_of_sampled]
        hands, discards = self.expected_cards(records.view(self.game.kernels.state), logs)
        tallies = WeightedTallies(masks.shape, chosen=self.tried < SAMPLED)
        tallies.begin_round()
        tallies.add_drawn(row_of_sampled, logs)
        if self.tried < SAMPLED:
            taken, logs = resample(logs, sampled, tried, random_units(generators))
            group = group[taken]
        paid = self.paid(worlds, masks[row_of_world], np.unique(group))
        world, action = np.nonzero(masks[row_of_tried])
        tallies.add_weighted(row_of_tried, world, action, paid[group[world], action], logs)
        tallies.end_round(masks, tried)
        return Found(
            tallies.values(),
            tallies.errors(),
            tallies.visits,
            hands,
            discards,
            tallies.effective_worlds(),
            power,
            np.bincount(row_of_world),
        )

    def paid(self, worlds: Vec, masks: NDArray[np.bool_], tried: NDArray[np.int64]) -> NDArray[np.float64]:
        """What the seat to move gets in the worlds ``tried`` after each action of ``masks`` (W, A), (W, A).

        NaN in other worlds and for other actions.
        """
        paid = np.full(masks.shape, np.nan)
        place, action = np.nonzero(masks[tried])
        games = worlds.take(tried[place])
        line_up, keys = np.zeros((1, self.players), np.int64), np.zeros(len(place), np.uint64)
        paid[tried[place], action] = action_rewards(games, action, [self.player], line_up, END_OF_ROUND, keys)
        return paid

    def expected_cards(
        self, worlds: NDArray[Any], logs: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Expected cards of each rank in the hand of each relative seat, (n, P, R), and discarded by it.

        ``worlds`` (n * `SAMPLED`, 1): states; ``logs``: their log weights, which count as equal if all weights are 0.
        """
        worlds, logs = worlds[:, 0], logs.reshape(-1, SAMPLED)
        top = logs.max(axis=1, keepdims=True)
        possible = np.isfinite(top)
        weights = np.where(possible, np.exp(logs - np.where(possible, top, 0.0)), 1.0)
        weights /= weights.sum(axis=1, keepdims=True)
        ranks = np.arange(self.game.options["num_ranks"])
        seats = (worlds["current_player"][:, None] + np.arange(self.players)) % self.players
        every = np.arange(len(worlds))[:, None]
        hands = worlds["hand"][every, seats][:, :, ranks]
        discards = worlds["discarded"][every, seats][:, :, None] == ranks

        def mean(cards: NDArray[Any]) -> NDArray[np.float64]:
            return np.einsum("nw,nwpr->npr", weights, cards.reshape(*logs.shape, *cards.shape[1:]))

        return mean(hands), mean(discards)


def packed(played: Positions, found: Found) -> dict[str, Any]:
    """The arrays of a file. Numbers of actions are those of the legal actions, position by position."""
    legal = played.mask
    with np.errstate(divide="ignore"):
        policy = np.log(played.policy[legal]).clip(LEAST_LOG)
    return {
        "observation": played.observation,
        "mask": np.packbits(legal, axis=1),
        "history": played.history,
        "value": found.value[legal].astype(np.float16),
        "error": found.error[legal].astype(np.float16),
        "visits": found.visits[legal].astype(np.uint16),
        "policy": policy.astype(np.float16),
        "hands": np.rint(found.hands / CARDS).astype(np.uint8),
        "discards": np.rint(found.discards / CARDS).astype(np.uint8),
        "effective": found.effective.astype(np.float16),
        "power": found.power.astype(np.float16),
        "different": found.different.astype(np.uint16),
        "game": played.game.astype(np.uint16),
        "move": played.move.astype(np.uint8),
        "seat": played.seat.astype(np.uint8),
        "action": played.action.astype(np.uint8),
        "final": played.final.astype(np.float16),
    }


#: Arrays with a number for each legal action.
OF_ACTIONS = ("value", "error", "visits", "policy")
#: Arrays of expected cards.
OF_CARDS = ("hands", "discards")


def chunks(folder: Path | str, players: int) -> Iterator[dict[str, NDArray[Any]]]:
    """The chunks of ``players`` players that exist, in order, as ``read`` returns them."""
    for file in sorted(Path(folder, f"{players}p").glob("chunk_*.npz")):
        yield read(file)


def read(file: Path | str) -> dict[str, NDArray[Any]]:
    """All arrays of a chunk, a row for each of its n positions.

    ``mask`` is (n, A) bool. Numbers of actions are (n, A): float32, NaN where illegal, except ``visits``, int64 and 0
    there. Expected cards are (n, P, R) float32.
    """
    with np.load(file) as stored:
        arrays = {name: stored[name] for name in stored.files if name != "settings"}
    made = settings(file)
    mask = arrays["mask"] = np.unpackbits(arrays["mask"], axis=1, count=made["actions"]).astype(bool)
    for name in OF_ACTIONS:
        full = np.zeros(mask.shape, np.int64) if name == "visits" else np.full(mask.shape, np.nan, np.float32)
        full[mask] = arrays[name]
        arrays[name] = full
    for name in OF_CARDS:
        arrays[name] = arrays[name] * np.float32(made["cards"])
    return arrays


def settings(file: Path | str) -> dict[str, Any]:
    """What a chunk was made with."""
    with np.load(file) as stored:
        return dict(json.loads(str(stored["settings"])))


def commit() -> str:
    """The commit of the checkout that catbox is imported from."""
    command = ["git", "-C", str(Path(catbox_env.__file__).parent), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def make_chunk(searcher: Searcher, number: int, folder: Path) -> int:
    """Write chunk ``number`` of ``searcher``, unless it exists. Returns how many positions it has.

    Raises ``ValueError`` for a file that was made with other settings.
    """
    name = f"{searcher.players}p"
    file = folder / name / f"chunk_{number:05}.npz"
    if file.exists():
        with np.load(file) as arrays:
            if str(arrays["settings"]) != searcher.settings:
                raise ValueError(f"{file} was made with other settings: choose another folder")
            return len(arrays["game"])
    begun = time.perf_counter(), time.process_time()
    arrays = searcher.chunk(number, folder)
    seconds, busy = time.perf_counter() - begun[0], time.process_time() - begun[1]
    positions = len(arrays["game"])
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(".unfinished")
    with unfinished.open("wb") as stream:
        np.savez_compressed(stream, settings=np.array(searcher.settings), **arrays)
        stream.flush()
        os.fsync(stream.fileno())
    unfinished.replace(file)
    with (folder / f"log_{name}.txt").open("a") as log:
        log.write(
            f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} chunk {number}: {positions} positions, "
            f"{positions / seconds:.1f}/s, {positions / busy:.1f} a second of CPU time, "
            f"{file.stat().st_size / positions:.0f} bytes each\n"
        )
    return positions


def generate(searchers: Iterable[Searcher], folder: Path) -> None:
    """Make chunks of each of ``searchers`` in turn, until each has the positions of `GOALS`."""
    searchers = list(searchers)
    chunks, positions = [0] * len(searchers), [0] * len(searchers)
    for goal in GOALS:
        while min(positions) < goal:
            for i, searcher in enumerate(searchers):
                if positions[i] < goal:
                    positions[i] += make_chunk(searcher, chunks[i], folder)
                    chunks[i] += 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    generate([Searcher(players) for players in TRIED], parser.parse_args().folder)
