#!/usr/bin/env bash
# Checks that everything builds with the oldest Rust that Cargo.toml promises (`rust-version`): the
# engine with and without its compressors, then all crates of the workspace with their tests.
#
#   scripts/msrv.sh             all of it: a minute or two
#   scripts/msrv.sh esker ...   only these crates, with default features
#
# The toolchain is installed by rustup where it is missing. Nothing is run: what differs between two
# versions of Rust is what they take, hardly ever what comes of it.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"
wanted=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)

if ! command -v rustup >/dev/null; then
    echo "msrv: needs rustup, which keeps several toolchains side by side: https://rustup.rs" >&2
    exit 1
fi
if ! cargo "+$wanted" --version >/dev/null 2>&1; then
    echo "msrv: installing Rust $wanted" >&2
    rustup toolchain install "$wanted" --profile minimal --no-self-update
fi
# Beside what other versions built, which would else be built anew each time.
target=$(scripts/setup.sh target)/msrv
check() { cargo "+$wanted" check --locked --target-dir "$target" "$@"; }

if [ $# -gt 0 ]; then
    for crate in "$@"; do check -p "$crate"; done
    exit 0
fi
check --workspace --all-targets
# A workspace of its own, whose tests of memory need a nightly toolchain anyway.
own=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' fuzz/Cargo.toml)
if [ "$own" != "$wanted" ]; then
    echo "msrv: fuzz/Cargo.toml names Rust $own, Cargo.toml $wanted" >&2
    exit 1
fi
echo "msrv: everything builds with Rust $wanted"
