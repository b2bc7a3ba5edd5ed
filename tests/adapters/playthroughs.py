"""Golden playthroughs of OpenSpiel: games as text, written by its own generator.

``python -m tests.adapters.playthroughs`` writes the files of ``golden/``; review their difference before you commit.
"""

from pathlib import Path

from absl import flags
from open_spiel.python.algorithms import generate_playthrough

from catbox_env.adapters import openspiel

flags.FLAGS.mark_as_parsed()  # what reads a playthrough looks at a flag of the command

FOLDER = Path(__file__).parent / "golden"

#: File name -> (game, seed).
PLAYTHROUGHS = {
    "cat_in_the_box": (
        "python_cat_in_the_box(players=2,num_ranks=3,num_colors=2,copies=3,hand_size=3,bids=0 1,revealed_cards=0,"
        "reward=margin,start_player_word=random)",
        1,
    ),
    "cat_te": ("python_cat_te(players=2,region=khmer,side_pot=1)", 1),
    "petrify": ("python_petrify(size=3,walls=3,wildcards=6)", 1),
}


def playthrough(name: str) -> str:
    """A random game, as `open_spiel.python.algorithms.generate_playthrough` writes it."""
    assert openspiel.load is not None  # the games are registered
    game, seed = PLAYTHROUGHS[name]
    return generate_playthrough.playthrough(game, [], seed=seed)


if __name__ == "__main__":
    for name in PLAYTHROUGHS:
        (FOLDER / f"{name}.txt").write_text(playthrough(name), encoding="utf-8")
