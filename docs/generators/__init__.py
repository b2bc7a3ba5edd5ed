"""Writes pages from the results in `experiments/`: docs/experiments.md, docs/leaderboard*.md, their pictures, those of
docs/zoo.md, and the cards of the zoo.

    python -m docs.generators            write them
    python -m docs.generators --check    write nothing; exit code 1 if one is out of date
"""
