#!/usr/bin/env bash
# Runs the parts that threads share under the model checker loom, which tries their interleavings.
#
#   scripts/loom.sh        with at most three preemptions: some seconds
#   scripts/loom.sh deep   with at most four: a minute or two
#
# LOOM_LOG=trace and LOOM_LOCATION=1 tell the story of a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"

# The flag is for every crate of a build, so it has a folder of its own. Unoptimised, with what is
# asked for by name in Cargo.toml: building takes longer than running.
export RUSTFLAGS="--cfg loom" CARGO_PROFILE_DEV_OPT_LEVEL=0
export LOOM_MAX_PREEMPTIONS=${LOOM_MAX_PREEMPTIONS:-3}
if [ "${1:-}" = deep ]; then
    export LOOM_MAX_PREEMPTIONS=4
fi
slow=()
for name in crc32c lz4_flex snap xxhash-rust zstd-sys; do
    slow+=(--config "profile.dev.package.$name.opt-level=0")
done
cargo test --locked -p esker --lib --target-dir target/loom "${slow[@]}" loom_models
