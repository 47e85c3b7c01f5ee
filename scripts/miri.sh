#!/usr/bin/env bash
# Runs the tests of the unsafe rooms, of the view that readers share, of the pool of large values,
# and of the walks over bits of phrases under Miri, which watches every access to memory. Decoding
# whole phrases has no unsafe code but what Miri cannot run, and training takes it too long.
# The rooms env/real/map, fork and bus_errors call the operating system, which Miri cannot follow;
# store/mem/node and index are driven by the tests of the list of entries.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"

if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "miri: needs a nightly toolchain; install it with: rustup toolchain install nightly" >&2
    exit 1
fi
if ! cargo +nightly miri --version >/dev/null 2>&1; then
    rustup component add --toolchain nightly miri rust-src ||
        { echo "miri: this nightly has none; try: rustup update nightly" >&2; exit 1; }
fi
cargo +nightly miri test --locked -p esker-phrase --lib -- bits
cargo +nightly miri test --locked -p esker --lib -- \
    store::mem::arena store::mem::entry_list \
    store::vlog::value_pool flow::current
