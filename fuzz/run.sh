#!/usr/bin/env bash
# Runs every fuzz target: its seeds first, then new inputs for some seconds. Ends at the first that fails.
#
#   fuzz/run.sh SECONDS          the same numbers in each run; nothing is kept
#   fuzz/run.sh SECONDS FOLDER   other numbers in each run; inputs that reach new code are kept in FOLDER for the next
#
# An input that fails is kept in fuzz/artifacts. To see it fail again, in fuzz/:
#   cargo run --release --bin TARGET -- artifacts/FILE
set -euo pipefail
seconds=$1 kept=${2:+$(realpath -m "$2")}
cd "$(dirname "$0")"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
options=(-max_total_time="$seconds" -max_len=2048 -timeout=10 -rss_limit_mb=1024 -dict=tokens.dict -print_final_stats=1)
[ -n "$kept" ] || options+=(-seed=1)

cargo build --release --locked
mkdir -p artifacts
for file in fuzz_targets/*.rs; do
    target=$(basename "$file" .rs)
    log=$scratch/$target.log new=${kept:-$scratch}/$target
    mkdir -p "$new"
    if ! cargo run --quiet --release --locked --bin "$target" -- \
        "${options[@]}" -artifact_prefix="artifacts/$target-" "$new" "corpus/$target" >"$log" 2>&1; then
        grep -vE '^(#|INFO|WARNING)' "$log" >&2
        printf 'fuzz target %s failed\n' "$target" >&2
        exit 1
    fi
    awk -v target="$target" '
        / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") reached = $(i + 1) }
        /number_of_executed_units/ { runs = $2 }
        /average_exec_per_sec/ { speed = $2 }
        END { printf "%-10s %9d inputs, %6d a second, %5d places reached\n", target, runs, speed, reached }
    ' "$log"
done
