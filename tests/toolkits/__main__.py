"""Measure what known ways into a game lose, for docs/pettingzoo_loops.md. Run it in the environment of each toolkit:

.venv/bin/python -m tests.toolkits
.toolkits/tianshou/bin/python -m tests.toolkits
.toolkits/torchrl/bin/python -m tests.toolkits

A row says: the way; what the seats were paid; what a learner receives for the actions of each; how many of its next
observations were never shown to the seat that acted.
"""

from __future__ import annotations

import importlib.util

from catbox_env.adapters.aec import AECGame
from tests.conservation import Ledger, compare
from tests.toolkits.ways import WAYS

SETTINGS = (
    ("cat_in_the_box_v0", {"num_players": 4}),
    ("cat_in_the_box_v0", {"num_players": 4, "rounds": "match"}),
)
GAMES = 100


def main() -> None:
    for game_id, options in SETTINGS:
        print(f"\n{game_id} {options}, {GAMES} games with random actions, seed 0")
        for toolkit, ways in WAYS.items():
            if importlib.util.find_spec(toolkit) is None:
                continue
            for way in ways:
                ledger = Ledger(AECGame(game_id, **options))
                found = compare(ledger, way(ledger, GAMES, 0))
                paid, received = (
                    " / ".join(f"{v:g}" for v in sums.values()) for sums in (found.paid, found.received)
                )
                print(f"| {way.__name__} | {paid} | {received} | {found.foreign} of {found.transitions} |")


if __name__ == "__main__":
    main()
