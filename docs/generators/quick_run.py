"""The pictures of docs/training.md and docs/arena.md: of the run of three minutes that both name, and of its arena.

`experiments/results/quick` has what the commands on these pages wrote: `runs/quick/metrics.jsonl`; as `arena.json`,
`arenas/quick/results.json`; and as `final.json` what the table at the end of the run says. The pictures are those that
the commands draw, for both themes, and narrow ones for phones.
"""

from __future__ import annotations

import json
from pathlib import Path

from catbox_agents.arena.report import matrix_figure
from catbox_agents.features import facts
from catbox_env import make_game
from catbox_train.runs.curves import final_finding, learning_figure
from catbox_train.runs.metrics import METRICS_FILE
from docs.generators.figures import Picture, as_saved, narrow, picture_file
from experiments.results import Folders

CURVES, ARENA = "learning", "arena"
ABOUT = "quick: PPO, Cat in the Box, 3 players"


def quick_run_pictures(folders: Folders) -> dict[Path, Picture]:
    """File -> picture; none without the results."""
    folder = folders.results / "quick"
    if not folder.exists():
        return {}
    metrics = (folder / METRICS_FILE).read_text(encoding="utf-8")
    arena = (folder / "arena.json").read_text(encoding="utf-8")
    final = final_finding(**json.loads((folder / "final.json").read_text(encoding="utf-8")))
    rows = [json.loads(line) for line in metrics.splitlines()]
    shares = facts(make_game("cat_in_the_box_v0", num_players=3)).binary_statistics

    def pictures(curves: str, columns: int, heat_map: str, width: int) -> dict[Path, Picture]:
        return {
            picture_file(curves, folders): Picture(
                ABOUT,
                metrics + final,
                as_saved(lambda: learning_figure(rows, ABOUT, shares, columns, final)),
            ),
            picture_file(heat_map, folders): Picture(
                "The margins of an arena", arena, as_saved(lambda: matrix_figure(json.loads(arena), width))
            ),
        }

    return pictures(CURVES, 2, ARENA, 750) | pictures(narrow(CURVES), 1, narrow(ARENA), 360)
