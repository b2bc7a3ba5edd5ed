"""Evidence: studies of training and their page, docs/experiments.md; the agents of the zoo; the leaderboard.

    python -m experiments run entropy lambda     train every run of two studies that has no result yet
    python -m experiments fields robust          play the nets of a study among agents of every kind
    python -m experiments speeds entropy         measure how fast its variants play and learn; let nothing else run
    python -m experiments zoo                    train the agents of the zoo (experiments/zoo.yaml)
    python -m experiments leaderboard            play the arenas of the leaderboard (experiments/leaderboard.yaml)
    python -m experiments report                 make docs/experiments.md with its pictures, docs/leaderboard*.md and
                                                 the cards of the zoo from the results
    python -m experiments report --check         only say whether they are up to date

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
    final_deals: 5000                            # deals of the matches at the end, other ones than on the way
    judged: "0.06"                               # optional: this variant's nets, and the heuristic, are played
    fields:                                      # among agents, and nets of the study of another seed
      heuristics: [heuristic]
      mixed: [net:0.01, random]
    field_deals: 2000
    conclusion: What the results say.            # written by hand, when there are results

Settings are named and written as `catbox train --set` takes them. A variant counts before the rule set, the rule set
before the base. All runs of all named studies are checked before the first is trained.

`run` trains study by study and seed by seed, so that one that is stopped early has as many seeds of every variant.
It may be stopped or killed at any time: given again, the same command leaves out finished runs and resumes the one
that was under way.
A run that any study has made with the same settings is taken from there.
Results are lines of `experiments/results/NAME.jsonl` (see `experiments.results`); the report does not need the folders
of the runs.
"""
