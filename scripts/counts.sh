#!/usr/bin/env bash
# Counts the instructions of the engine's operations and holds them against docs/counts.tsv.
#
#   scripts/counts.sh            count, compare, and fail where one grew by more than 10 %
#   scripts/counts.sh --keep     count, and keep the figures as the ones to compare with
#   scripts/counts.sh get seek   only these
#
# Counts do not depend on what else the machine does, only on the code, the compiler and the
# processor's kind (the C library chooses its copies by it): figures of another machine may differ by
# a few percent.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"
kept=docs/counts.tsv
growth_max=10

is_kept=no
if [ "${1:-}" = --keep ]; then
    is_kept=yes
    shift
fi
if ! command -v valgrind >/dev/null; then
    echo "counts: needs valgrind; install it with: apt-get install valgrind" >&2
    exit 1
fi
# valgrind starts a program without the table from which rustix would learn of the system's calls.
RUSTFLAGS="--cfg=rustix_use_libc" cargo build --quiet --release --locked -p esker \
    --example counts --target-dir target/counts
program=target/counts/release/examples/counts
if [ $# -eq 0 ]; then
    read -ra kinds <<<"$("$program" kinds)"
    set -- "${kinds[@]}"
fi
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT

figures=""
for kind in "$@"; do
    rm -rf "$room/db"
    # Background work is counted where it is done, whoever waits for it.
    case "$kind" in
    flush) counted=esker::flow::flush::flush ;;
    compact) counted=esker::flow::compact::job::run_part ;;
    *) counted=counts::measured ;;
    esac
    if ! valgrind --tool=callgrind --toggle-collect="$counted" \
        --callgrind-out-file="$room/out" "$program" "$kind" "$room/db" >"$room/told" 2>"$room/log"; then
        cat "$room/log" >&2
        exit 1
    fi
    count=$(awk '{ print $2 }' "$room/told")
    sum=$(awk '$1 == "summary:" { print $2 }' "$room/out")
    each=$(((sum + count / 2) / count))
    before=$(awk -v kind="$kind" '$1 == kind { print $2 }' "$kept" 2>/dev/null || true)
    printf '%-19s %7d instructions' "$kind" "$each"
    if [ -n "$before" ]; then
        awk -v now="$each" -v before="$before" \
            'BEGIN { printf ", %7d kept, %+.1f %%", before, 100 * (now - before) / before }'
    fi
    printf '\n'
    figures+="$kind"$'\t'"$each"$'\t'"${before:-0}"$'\n'
done

if [ "$is_kept" = yes ]; then
    {
        printf '# Instructions of one operation, counted by scripts/counts.sh --keep; see there.\n'
        # What was not counted this time stays as it was.
        { printf '%s' "$figures" | cut -f1,2; grep -v '^#' "$kept" 2>/dev/null || true; } |
            awk -F'\t' '!seen[$1]++'
    } >"$room/kept"
    mv "$room/kept" "$kept"
    exit 0
fi
printf '%s' "$figures" | awk -F'\t' -v most="$growth_max" '
    $3 == 0 { print "counts: nothing kept for " $1 "; scripts/counts.sh --keep keeps it"; next }
    100 * ($2 - $3) > most * $3 { print "counts: " $1 " grew by more than " most " %"; bad = 1 }
    END { exit bad }' >&2
