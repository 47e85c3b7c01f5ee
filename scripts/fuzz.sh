#!/usr/bin/env bash
# Runs every fuzz target, or those named, for FUZZ_SECONDS seconds each (default 60).
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"
seconds=${FUZZ_SECONDS:-60}

if [ ! -f fuzz/Cargo.toml ]; then
    echo "fuzz: this checkout has no fuzz targets" >&2
    exit 1
fi
if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "fuzz: needs a nightly toolchain; install it with: rustup toolchain install nightly" >&2
    exit 1
fi
if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    echo "fuzz: needs cargo-fuzz; install it with: cargo install --locked cargo-fuzz" >&2
    exit 1
fi
if [ $# -eq 0 ]; then
    mapfile -t targets < <(cargo +nightly fuzz list)
    set -- "${targets[@]}"
fi
for target in "$@"; do
    echo "fuzz: $target for $seconds s"
    # Inputs of any length from the start: growing them with the runs, as is usual, would leave
    # targets that build a whole log or database with a few bytes for minutes.
    cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -len_control=0
done
