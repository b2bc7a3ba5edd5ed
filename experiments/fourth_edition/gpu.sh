#!/usr/bin/env bash
# Makes the most of some minutes of a GPU: bash experiments/fourth_edition/gpu.sh MINUTES OUT
#
# Trains policies from scratch for every table of Cat in the Box, one after the other, each in a quarter of the time. On
# the other cores, a best response to the zoo's agent for two players trains meanwhile. OUT gets the policy and the
# metrics of each, also of one that was stopped. To try the script without a GPU: DEVICE=cpu RATE=20000 WORKERS=1, where
# RATE is the decisions a second to expect of the device, and CPU_RATE those of a core.
set -euo pipefail
MINUTES="$1" OUT="$(realpath -m "$2")"
DEVICE="${DEVICE:-cuda}" RATE="${RATE:-3000000}" CPU_RATE="${CPU_RATE:-40000}"
WORKERS="${WORKERS:-$(($(nproc) - 3))}"
cd "$(dirname "$0")/../.."
RUNS="$(mktemp -d)"
mkdir -p "$OUT"

learn() { # NAME SECONDS RATE COMMAND...: stops in time, whatever the rate; a minute of it is for compilation
    local name="$1" seconds="$2" decisions=$((($2 - 60) * $3 * 9 / 10))
    shift 3
    timeout --signal INT "$seconds" "$@" --output "$RUNS/$name" --set "total_decisions=$decisions" \
        --set learning_rate_end=1e-5 --set evaluate_every=1000 --set checkpoint_every=100 || echo "$name was stopped"
    local run="$RUNS/$name"
    [ -e "$run/metrics.jsonl" ] || run="$run/seed-1"
    cp "$run/metrics.jsonl" "$OUT/$name.jsonl"
    cp "$(find "$run/checkpoints" -name policy.safetensors -not -path '*/best/*' | sort | tail -n 1)" "$OUT/$name.safetensors"
}

learn best_response-2p $((MINUTES * 60 - 30)) $((CPU_RATE * WORKERS)) \
    catbox best-response --target zoo:cat_in_the_box-2p --players 2 --preset standard --seeds 1 --deals 200 \
    --set device=cpu --set "workers=$WORKERS" --set learning_rate=3e-4 --set ent_coef=0.005 >"$OUT/best_response-2p.log" 2>&1 &
for players in 3 2 4 5; do
    learn "cat_in_the_box-${players}p" $((MINUTES * 15 - 10)) "$RATE" \
        catbox train --preset gpu --players "$players" --device "$DEVICE" --set workers=1 --set hidden=512,512 \
        --set "opponents={random: 0.05, heuristic: 0.2, past: 0.3}" --set past_policies=30 --set past_every=200 \
        --set ent_coef=0.03 --set ent_coef_end=0.001 --set final_deals=200
done
wait
