"""Writes pages from the results in `experiments/`: docs/experiments.md with its pictures, docs/leaderboard*.md, and the
cards of the zoo.

    python -m docs.generators            write them
    python -m docs.generators --check    write nothing; exit code 1 if one is out of date
"""
