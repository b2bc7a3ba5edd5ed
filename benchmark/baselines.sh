#!/usr/bin/env bash
# Trains, plays and submits the rows of the leaderboard: bash benchmark/baselines.sh [ROW ...]. What is finished is not
# done again. Learners are trained in runs/baselines, submissions are written to benchmark/submissions.
set -euo pipefail
cd "$(dirname "$0")/.."
SEEDS="1 2 3 4 5"
OUT="${OUT:-benchmark/submissions}"

enter() { # NAME-OF-FOLDER SUITE AGENT... -- MORE OPTIONS
    local folder="$OUT/$1" suite="$2" agents=()
    shift 2
    while [ "$1" != "--" ]; do agents+=("$1"); shift; done
    shift
    catbox bench run "${agents[@]}" --suite "$suite" --output "$folder" "$@"
}

missing() { # NAME-OF-FOLDER
    [ ! -e "$OUT/$1/submission.json" ]
}

learned() { # RUN ARGUMENTS: trains one process of the preset quick, or resumes the run
    local run="$1"
    shift
    if [ -e "$run/results.json" ]; then return; fi
    if [ -e "$run/config.yaml" ]; then
        catbox train --resume --output "$run"
    else
        catbox train --preset quick --set workers=1 "$@" --output "$run"
    fi
}

learner() { # ALGORITHM NAME DECISIONS "PLAYERS": five seeds, a policy for each number of players and two other games
    local algorithm="$1" decisions="$3" seed players
    local settings="catbox train --preset quick --algo $algorithm --set workers=1 --set total_decisions=$decisions"
    for seed in $SEEDS; do
        local of_seed="runs/baselines/$algorithm" runs=()
        local about=(--name "$2" --track learn-10M --decisions "$decisions" --seed "$seed" --settings "$settings")
        local more=(--algo "$algorithm" --set "seed=$seed" --set "total_decisions=$decisions")
        if missing "cat_in_the_box-$algorithm-$seed"; then
            for players in $4; do
                learned "$of_seed-${players}p-$seed" "${more[@]}" --players "$players"
                runs+=("$of_seed-${players}p-$seed")
            done
            enter "cat_in_the_box-$algorithm-$seed" cat_in_the_box "${runs[@]}" -- "${about[@]}"
        fi
        if missing "cat_te-$algorithm-$seed"; then
            learned "$of_seed-cat_te-$seed" "${more[@]}" --game cat_te_v0 --players 4
            enter "cat_te-$algorithm-$seed" cat_te "$of_seed-cat_te-$seed" -- "${about[@]}"
        fi
        if missing "petrify-$algorithm-$seed"; then
            learned "$of_seed-petrify-$seed" "${more[@]}" --game petrify_v0
            enter "petrify-$algorithm-$seed" petrify "$of_seed-petrify-$seed" -- "${about[@]}"
        fi
    done
}

maskable_ppo() { # DECISIONS: five seeds of another library's learner, for three and five players
    local decisions="$1" name="MaskablePPO of sb3-contrib, 1 million" seed players
    local settings="python examples/sb3_self_play.py --decisions $decisions --players 3, and --players 5"
    for seed in $SEEDS; do
        if missing "cat_in_the_box-maskable_ppo-$seed"; then
            local models=()
            for players in 3 5; do
                local run="runs/baselines/maskable_ppo-${players}p-$seed"
                [ -e "$run/model.zip" ] || python examples/sb3_self_play.py \
                    --decisions "$decisions" --players "$players" --seed "$seed" --folder "$run"
                models+=("$run/model.zip")
            done
            enter "cat_in_the_box-maskable_ppo-$seed" cat_in_the_box "${models[@]}" -- --name "$name" --track learn-10M \
                --decisions "$decisions" --seed "$seed" --settings "$settings"
        fi
    done
}

fixed() { # FOLDER SPEC NAME TRACK MORE OPTIONS
    local folder="$1" spec="$2" name="$3" track="$4"
    shift 4
    for suite in petrify cat_te cat_in_the_box; do
        if missing "$suite-$folder"; then
            enter "$suite-$folder" "$suite" "$spec" -- --name "$name" --track "$track" "$@"
        fi
    done
}

rows=("$@")
[ $# -gt 0 ] || rows=(random heuristic zoo ppo dmc exit maskable_ppo pimc ismcts search)
for row in "${rows[@]}"; do
    case "$row" in
    random) fixed random random "random" open ;;
    heuristic) fixed heuristic heuristic "heuristic" open ;;
    zoo) fixed zoo best "zoo" open ;;
    ppo) learner ppo "PPO, 10 million" 10000000 "2 3 4 5" ;;
    dmc) learner dmc "Deep Monte Carlo, 10 million" 10000000 "2 3 4 5" ;;
    exit) learner exit "expert iteration, 1 million" 1000000 "3 5" ;; # ten million would take days
    maskable_ppo) maskable_ppo 1000000 ;; # ten million would take hours
    # Searches play a tenth of the deals: all of them would take a day.
    pimc) fixed pimc "pimc:samples=16" "PIMC, 16 worlds" open+search --quick ;;
    ismcts) fixed ismcts "ismcts:simulations=100" "ISMCTS, 100 simulations" open+search --quick ;;
    search) fixed search "search:worlds=16,policy=best" "search, 16 worlds" open+search --quick ;;
    *) echo "unknown row $row: expected random, heuristic, zoo, ppo, dmc, exit, maskable_ppo, pimc, ismcts or search" >&2; exit 2 ;;
    esac
done
