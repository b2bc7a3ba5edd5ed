"""Imitate the zoo's agent: a data set of its games, a network that learns its choices, and an arena for the result.

pip install -e '.[arena,data]' torch
python examples/clone.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from pyarrow import parquet
from torch import nn

import catbox_agents.features
from catbox_agents import run_arena
from catbox_agents.dataset import play_games, write_dataset
from measure import GAME, Learned

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "data/zoo-3p")
GAMES, EPOCHS, DEALS = (int(sys.argv[2]), 2, 10) if len(sys.argv) > 2 else (120_000, 5, 2000)


class Clone(nn.Module):
    """From observations (N, O) and action masks (N, A) to actions (N,)."""

    def __init__(self) -> None:
        super().__init__()
        hidden = nn.LazyLinear(512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU()
        self.layers = nn.Sequential(nn.LazyBatchNorm1d(), *hidden, nn.Linear(256, GAME.num_actions))

    def logits(self, seen: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The network also sees the features of the game, which are computed from an observation."""
        features = catbox_agents.features.features_of(GAME)
        assert features is not None
        position, actions = features.compute(seen.numpy().astype(np.int8), mask.numpy())
        inputs = [seen, torch.from_numpy(position), torch.from_numpy(actions).flatten(1)]
        return self.layers(torch.cat([part.float() for part in inputs], 1)).masked_fill(~mask, -1e9)

    def forward(self, seen: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.eval().logits(seen, mask).argmax(1)


def train(network: Clone, rows: list[torch.Tensor]) -> None:
    seen, masks, actions = rows
    batches = len(actions) // 2048 * EPOCHS
    network.logits(seen[:2], masks[:2])  # tells the lazy layers their sizes
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=batches + EPOCHS)
    for epoch in range(EPOCHS):
        right = 0
        for places in torch.randperm(len(actions)).split(2048):
            logits = network.logits(seen[places], masks[places])
            right += int((logits.argmax(1) == actions[places]).sum())
            optimizer.zero_grad()
            nn.functional.cross_entropy(logits, actions[places]).backward()
            optimizer.step()
            schedule.step()
        print(f"epoch {epoch + 1}: {right / len(actions):.1%} of the choices")


if __name__ == "__main__":
    if not (FOLDER / "decisions.parquet").exists():
        write_dataset(play_games(GAME, ["zoo", "heuristic"], GAMES), FOLDER)
    table = parquet.read_table(FOLDER / "decisions.parquet", filters=[("agent", "=", "zoo")])
    lists = [table[name].combine_chunks().flatten() for name in ("observation", "action_mask")]
    seen, masks = (
        np.array(column.to_numpy(zero_copy_only=False)).reshape(len(table), -1) for column in lists
    )
    torch.manual_seed(0)
    train(clone := Clone(), [torch.from_numpy(column) for column in (seen, masks, np.array(table["action"]))])
    arena = run_arena(GAME, [Learned(clone), "zoo", "heuristic"], DEALS, names=["clone", "zoo", "heuristic"])
    print(
        f"among heuristics: clone {arena.margin('clone', 'heuristic')}, zoo {arena.margin('zoo', 'heuristic')}"
    )
    print(f"clone instead of zoo: {arena.difference('clone', 'zoo', field='heuristic')}")
