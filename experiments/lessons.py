"""What a network learns from the searched positions, by its inputs and its size: is it the inputs that it lacks?

A new network corrects the logits of the zoo agent. It is trained on the searches of most chunks, and raises the mean of
their values under its policy. On the other chunks, which it has not seen, the values of the actions that it then
prefers are compared with those of the agent's: what it gains, in points a decision. `experiments.searched_positions`
makes the positions. What there is to gain: a second search in other worlds compares the best actions of the first with
those of the agent.

    python -m experiments.lessons [FOLDER] [--players 2]

Inputs: the observation and the features as they are (`now`); beside them all plays of the round, trick by trick and
seat by seat, with who led (`plays`); the expected cards in each hand and discarded, under the weights of the search
(`cards`).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from catbox_agents.networks.inputs import NetworkInputs, input_scale
from catbox_agents.search import RolloutSearch
from catbox_agents.search.agents import BETA, EFFECTIVE, PROPOSALS
from catbox_agents.search.halving import flat_schedule
from catbox_env import Game, make_game
from experiments.searched_positions import chunks

SEARCHED = Path(__file__).parent / "results" / "searched"
#: The agents that played the searched positions and their searches.
AGENTS = Path(__file__).parent / "previous_edition"
#: The share of the chunks that is held out, the last ones.
HELD_OUT = 0.15
EPOCHS, MINIBATCH, LEARNING_RATE = 20, 512, 1e-3
INPUTS = (("now",), ("now", "plays"), ("now", "cards"), ("now", "plays", "cards"))
WIDTHS = (128, 256, 512)
#: Held-out positions that are searched again.
JUDGED = 1500


class Lesson:
    """The positions of one table, as tensors of n rows."""

    def __init__(self, folder: Path, players: int) -> None:
        game = make_game("cat_in_the_box_v0", num_players=players, reward="margin")
        parts = list(chunks(folder, players))
        found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        held_out = len(parts) - round(HELD_OUT * len(parts))
        chunk = np.repeat(np.arange(len(parts)), [len(part["game"]) for part in parts])
        self.train, self.test = (
            torch.from_numpy(np.flatnonzero(is_in)) for is_in in (chunk < held_out, chunk >= held_out)
        )
        network = NetworkInputs(game, use_features=True, use_action_features=True)
        assert network.action_layout is not None
        seen, actions = network.compute(np.ascontiguousarray(found["observation"]), found["mask"])
        cards = np.concatenate([found[name].reshape(len(seen), -1) for name in ("hands", "discards")], axis=1)
        self.game, self.searched = game, found
        self.inputs = {
            "now": torch.from_numpy(seen * network.scale()),
            "plays": torch.from_numpy(plays(found["history"], game)),
            "cards": torch.from_numpy(cards),
        }
        self.actions = torch.from_numpy(actions * input_scale(network.action_layout))
        self.mask = torch.from_numpy(found["mask"])
        self.values = torch.from_numpy(np.nan_to_num(found["value"]))
        self.logits = torch.from_numpy(found["policy"]).masked_fill(~self.mask, -torch.inf)

    def search(self) -> tuple[float, float]:
        """What the best action of a search gains in held-out positions, and half the 95 % interval."""
        rows = self.test[torch.randperm(len(self.test))[:JUDGED]]
        best = self.values[rows].masked_fill(~self.mask[rows], -torch.inf).argmax(1)
        observations, masks, histories = (
            np.ascontiguousarray(self.searched[name][rows.numpy()])
            for name in ("observation", "mask", "history")
        )
        agent = str(AGENTS / f"cat_in_the_box-{self.game.num_players}p.safetensors")
        again = RolloutSearch(
            self.game, agent, 64, schedule=flat_schedule, beta=BETA, proposals=PROPOSALS, effective=EFFECTIVE
        )
        values = torch.from_numpy(again.search(observations, masks, 1, histories).values)
        gain = (
            values.gather(1, best[:, None])[:, 0] - values.gather(1, self.logits[rows].argmax(1, True))[:, 0]
        )
        return gain.mean().item(), 1.96 * gain.std().item() / len(gain) ** 0.5

    def learn(self, names: Sequence[str], width: int) -> tuple[float, float]:
        """What a network with two layers of ``width`` gains, and half the 95 % interval."""
        torch.manual_seed(0)
        inputs = torch.cat([self.inputs[name] for name in names], 1)
        num_actions, num_features = self.actions.shape[1:]
        outputs = nn.Linear(width, num_actions + num_features)
        nn.init.zeros_(outputs.weight)
        nn.init.zeros_(outputs.bias)
        network = nn.Sequential(
            nn.Linear(inputs.shape[1], width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), outputs
        )

        def corrected(rows: torch.Tensor) -> torch.Tensor:
            own, weights = network(inputs[rows]).split([num_actions, num_features], 1)
            return self.logits[rows] + own + torch.einsum("nak,nk->na", self.actions[rows], weights)

        steps = EPOCHS * (len(self.train) // MINIBATCH)
        optimizer = torch.optim.AdamW(network.parameters(), LEARNING_RATE, weight_decay=1e-4)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
        for _ in range(EPOCHS):
            for rows in self.train[torch.randperm(len(self.train))].split(MINIBATCH)[: steps // EPOCHS]:
                loss = -(corrected(rows).softmax(1) * self.values[rows]).sum(1).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
        with torch.no_grad():
            best = [
                logits.argmax(1, keepdim=True) for logits in (corrected(self.test), self.logits[self.test])
            ]
        new, old = (self.values[self.test].gather(1, actions)[:, 0] for actions in best)
        gain = new - old
        return gain.mean().item(), 1.96 * gain.std().item() / len(gain) ** 0.5


def plays(histories: NDArray[np.int8], game: Game) -> NDArray[np.float32]:
    """All plays of ``histories`` (n, T, 2), flat: for each trick and relative seat the colour, the rank and 1 for the
    lead."""
    rules: Any = game.rules
    first, ranks = rules.num_ranks + len(rules.bids), rules.num_ranks
    rows, steps = np.nonzero((histories[:, :, 1] >= first) & (histories[:, :, 1] < game.num_actions - 1))
    seats, cards = histories[rows, steps].T - np.array([[0], [first]])
    number = _numbers(rows)
    tricks = number // rules.num_players
    table = np.zeros(
        (len(histories), rules.num_tricks, rules.num_players, rules.num_colors + ranks + 1), np.float32
    )
    table[rows, tricks, seats, cards // ranks] = 1
    table[rows, tricks, seats, rules.num_colors + cards % ranks] = 1
    leads = number % rules.num_players == 0
    table[rows[leads], tricks[leads], seats[leads], -1] = 1
    return table.reshape(len(table), -1)


def _numbers(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of each play in its game, for the games ``rows`` of plays in order."""
    _, first, counts = np.unique(rows, return_index=True, return_counts=True)
    return np.arange(len(rows)) - np.repeat(first, counts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", default=SEARCHED)
    parser.add_argument("--players", type=int, nargs="+", default=[2, 3])
    given = parser.parse_args()
    for players in given.players:
        lesson = Lesson(given.folder, players)
        print(
            f"{players} players: {len(lesson.train):,} positions to learn from, {len(lesson.test):,} held out"
        )
        gain, half = lesson.search()
        print(f"  a search: {gain:+.3f} ± {half:.3f}", flush=True)
        for names in INPUTS:
            for width in WIDTHS:
                gain, half = lesson.learn(names, width)
                print(f"  {' + '.join(names)}, 2 x {width}: {gain:+.3f} ± {half:.3f}", flush=True)
