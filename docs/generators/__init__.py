"""Writes the pictures of docs/experiments.md, docs/leaderboard.md, docs/training.md and docs/arena.md and the cards of
the zoo from the results in `experiments/` and `benchmark/`. The tables on these pages are blocks of `docs/generate.py`.

    python -m docs.generators            write them
    python -m docs.generators --check    write nothing; exit code 1 if one is out of date
"""
