"""A schedule of opponents of your own: prioritised fictitious self-play (Vinyals et al. 2019, AlphaStar,
https://doi.org/10.1038/s41586-019-1724-z). Run this file, or in a checkout
catbox train --players 3 --set "opponents={past: 0.5, heuristic: 0.1}" --set past_every=5 --set past_policies=16 \\
    --set opponent_schedule=examples.fictitious_self_play:prioritised"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp

from catbox_train import load_config, train

#: Larger: rather those that are hard to beat.
POWER = 2.0


def prioritised(
    update: int, progress: float, shares: dict[str, float], won: Mapping[str, float]
) -> dict[str, float]:
    """All opponents together keep their share of the games; each gets as much of it as it is hard to beat.

    ``shares``: those of the settings by name, ``past:25`` is the policy after 25 updates; ``won``: the share of the
    games that the learner has won against each that it has met.
    """
    weights = {name: (1 - won.get(name, 0.5)) ** POWER for name in shares}  # of a new one nothing is known
    total = sum(weights.values())
    if total == 0:  # all are always beaten
        return shares
    return {name: sum(shares.values()) * weight / total for name, weight in weights.items()}


if __name__ == "__main__":
    decisions = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    settings = {
        "total_decisions": decisions,
        "opponents": {"past": 0.5, "heuristic": 0.1},
        "past_every": 5,
        "past_policies": 16,
        "opponent_schedule": "fictitious_self_play:prioritised",
        "game_options": {"num_players": 3},
    }
    run = mkdtemp()
    train(load_config("quick", overrides=settings), run)
    last = json.loads((Path(run) / "metrics.jsonl").read_text().splitlines()[-1])
    last = {name: value for name, value in last.items() if "beats" in name}
    print(f"{decisions:,} decisions; share of the games won in the last update: {last}")
