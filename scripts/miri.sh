#!/usr/bin/env bash
# Runs the tests of the unsafe rooms, and of the view that readers share, under Miri, which watches
# every access to memory.
# The room env/real/map calls the operating system, which Miri cannot follow; store/mem/node
# is driven by the tests of the skip list.
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
cargo +nightly miri test --locked -p esker --lib -- \
    store::mem::arena store::mem::skiplist flow::current
