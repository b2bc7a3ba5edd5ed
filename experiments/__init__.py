"""Evidence: training studies and the agents of the zoo.

    python -m experiments run defaults    train every run of a study that has no result yet
    python -m experiments speeds defaults measure how fast its variants learn, on an idle machine
    python -m experiments zoo             train and measure the agents of the zoo (experiments/zoo.yaml)

`python docs/generate.py` and `python -m docs.generators` then write docs/experiments.md, the pictures and the cards of
the zoo from the results.

A study is `experiments/studies/NAME.yaml`:

    title: Weight of the entropy bonus
    question: Which weight at the start gives the strongest policy?
    base: {total_decisions: 20_000_000}          # settings of every run; `preset: NAME` is one of them
    rules:                                       # rule sets: every variant is trained on each
      3 players: {game_options.num_players: 3}
    variants:                                    # what is compared: each with the first
      as it is: {}
      "0.01": {ent_coef: 0.01}
    seeds: [1, 2, 3, 4, 5]
    final_deals: 3000                            # deals of the final matches, unlike those of evaluations

Settings are named and written as in `catbox train --set`. A variant overrides the rule set, which overrides the base.
All runs of all named studies are checked before the first is trained.

`run` trains seed by seed, so that a study stopped early has equally many seeds of every variant. It may be stopped or
killed at any time: the same command then skips finished runs and resumes the interrupted one. Start it once for each
core: each process takes the next run that no other one is at. Results are lines of `experiments/results/NAME.jsonl`
(see `experiments.results`); the pages do not need the run folders.
"""
