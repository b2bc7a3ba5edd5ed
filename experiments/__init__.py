"""Evidence: training studies, the agents of the zoo, the leaderboard.

    python -m experiments run entropy lambda     train every run of two studies that has no result yet
    python -m experiments fields robust          play the nets of a study among agents of every kind
    python -m experiments speeds entropy         measure training speed of its variants, on an idle machine
    python -m experiments zoo                    train the agents of the zoo (experiments/zoo.yaml)
    python -m experiments leaderboard            play the arenas of the leaderboard (experiments/leaderboard.yaml)
    python -m experiments headroom               measure how much agents of the zoo leave on the table

`python -m docs.generators` then makes docs/experiments.md, docs/leaderboard*.md, their pictures, those of docs/zoo.md
and the cards of the zoo from the results.

A study is `experiments/studies/NAME.yaml`:

    title: Weight of the entropy bonus
    question: Which weight at the start gives the strongest policy?
    base: {total_decisions: 4_000_000}           # settings of every run; `preset: NAME` is one of them
    rules:                                       # rule sets: every variant is trained on each
      3 players: {game_options.num_players: 3}
    variants:                                    # what is compared
      "0.01": {entropy: 0.01}
      "0.06": {entropy: 0.06}
    seeds: [1, 2, 3]
    final_deals: 5000                            # deals of the final matches, unlike those of evaluations
    judged: "0.06"                               # optional: this variant's nets, and the heuristic, are played
    fields:                                      # among agents, and nets of the study with another seed
      heuristics: [heuristic]
      mixed: [net:0.01, random]
    field_deals: 2000
    conclusion: What the results say.            # written by hand, once there are results
    table: false                                 # optional: the page has only this, no table and no curves

Settings are named and written as in `catbox train --set`. A variant overrides the rule set, which overrides the base.
All runs of all named studies are checked before the first is trained.

`run` trains study by study and seed by seed, so that a study stopped early has equally many seeds of every variant. It
may be stopped or killed at any time: the same command then skips finished runs and resumes the interrupted one. A run
that any study has made with the same settings is reused.
Results are lines of `experiments/results/NAME.jsonl` (see `experiments.results`); the report does not need the run
folders.
"""
