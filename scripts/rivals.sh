#!/usr/bin/env bash
# Builds the program `compare` with rivals, and runs it.
#
#   scripts/rivals.sh FEATURES WORDS…   FEATURES are those of crates/esker-bench-rivals
#
# Help, and what makes no sense in the words, is told before: RocksDB alone takes ten minutes of a
# processor to build, and libclang is installed for it. So the words are first looked at by the same
# program without rivals, not optimised, which shares what it is made of with `make test`.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"

features=$1
shift
scripts/setup.sh
manifest=crates/esker-bench-rivals/Cargo.toml
alone=(cargo run --quiet --locked --manifest-path "$manifest"
    --target-dir "$(scripts/setup.sh target)" --)
for word in "$@"; do
    case $word in
    --help | -h) exec "${alone[@]}" "$@" ;;
    esac
done
"${alone[@]}" check "$@"
# A client of SQL servers is built without what engines in C++ need.
[ "$features" = mariadb ] || scripts/setup.sh rivals
# Every engine is built for this very processor: RocksDB decides while it is built whether it may use
# the processor's checksum instructions, and all are to have the same.
RUSTFLAGS="-C target-cpu=native" exec cargo run --release --locked \
    --manifest-path "$manifest" --features "$features" -- "$@"
