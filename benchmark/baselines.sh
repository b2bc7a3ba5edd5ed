#!/usr/bin/env bash
# Trains, plays and submits the rows of the leaderboard: bash benchmark/baselines.sh [ROW ...]. What is finished is not
# done again. Learners are trained in runs/baselines, submissions are written to benchmark/submissions.
set -euo pipefail
cd "$(dirname "$0")/.."
SEEDS="1 2 3 4 5"
OUT=benchmark/submissions

enter() { # NAME-OF-FOLDER SUITE AGENT... -- MORE OPTIONS
    local folder="$OUT/$1" suite="$2" agents=()
    shift 2
    while [ "$1" != "--" ]; do agents+=("$1"); shift; done
    shift
    [ -e "$folder/submission.json" ] || catbox bench run "${agents[@]}" --suite "$suite" --output "$folder" "$@"
}

learned() { # ALGORITHM PLAYERS SEED: trains a run of the preset quick, 10 million decisions
    local run="runs/baselines/$1-$2p-$3"
    if [ -e "$run/results.json" ]; then return; fi
    if [ -e "$run/config.yaml" ]; then
        catbox train --resume --output "$run"
    else
        catbox train --preset quick --algo "$1" --players "$2" --set seed="$3" --set workers=1 --output "$run"
    fi
}

learner() { # ALGORITHM NAME: five seeds, each with a policy for every number of players
    for seed in $SEEDS; do
        local runs=()
        for players in 2 3 4 5; do
            learned "$1" "$players" "$seed"
            runs+=("runs/baselines/$1-${players}p-$seed")
        done
        enter "cat_in_the_box-$1-$seed" cat_in_the_box "${runs[@]}" -- \
            --name "$2" --track learn-10M --decisions 10000000 --seed "$seed" \
            --settings "catbox train --preset quick --algo $1 --set workers=1, for 2, 3, 4 and 5 players"
    done
}

fixed() { # FOLDER SPEC NAME TRACK MORE OPTIONS
    local folder="$1" spec="$2" name="$3" track="$4"
    shift 4
    for suite in petrify cat_te cat_in_the_box; do
        enter "$suite-$folder" "$suite" "$spec" -- --name "$name" --track "$track" "$@"
    done
}

rows=("$@")
[ $# -gt 0 ] || rows=(random heuristic zoo ppo dmc exit pimc ismcts search)
for row in "${rows[@]}"; do
    case "$row" in
    random) fixed random random "random" open ;;
    heuristic) fixed heuristic heuristic "heuristic" open ;;
    zoo) fixed zoo best "zoo" open ;;
    ppo) learner ppo "PPO, 10 million" ;;
    dmc) learner dmc "Deep Monte Carlo, 10 million" ;;
    exit) learner exit "expert iteration, 10 million" ;;
    # Searches play a tenth of the deals: all of them would take a day.
    pimc) fixed pimc "pimc:samples=16" "PIMC, 16 worlds" open+search --quick ;;
    ismcts) fixed ismcts "ismcts:simulations=100" "ISMCTS, 100 simulations" open+search --quick ;;
    search) fixed search "search:worlds=16,policy=best" "search, 16 worlds" open+search --quick ;;
    *) echo "unknown row $row: expected random, heuristic, zoo, ppo, dmc, exit, pimc, ismcts or search" >&2; exit 2 ;;
    esac
done
