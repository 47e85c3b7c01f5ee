#!/usr/bin/env bash
# Runs every fuzz target, or those named, for FUZZ_SECONDS seconds each (default 60). One that fails
# does not keep the others from their turn; all that failed are listed at the end, with exit code 1.
#
# What the fuzzer learns lands in fuzz/corpus. It starts from there, from what the engine's own
# writers make, and from the inputs in crates/esker-fuzz: kept ones, and those that once failed.
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
    # Apart from mapfile, which would hide that the list could not be made.
    list=$(cargo +nightly fuzz list)
    mapfile -t targets <<<"$list"
    set -- "${targets[@]}"
fi
cargo run --quiet --locked -p esker-fuzz -- fuzz/corpus
failed=()
for target in "$@"; do
    echo "fuzz: $target for $seconds s"
    inputs=("fuzz/corpus/$target")
    for folder in kept found; do
        [ ! -d "crates/esker-fuzz/$folder/$target" ] || inputs+=("crates/esker-fuzz/$folder/$target")
    done
    # Inputs of any length from the start: growing them with the runs, as is usual, would leave
    # targets that build a whole log or database with a few bytes for minutes.
    if ! cargo +nightly fuzz run "$target" "${inputs[@]}" -- \
        -max_total_time="$seconds" -len_control=0; then
        failed+=("$target")
    fi
done
if [ ${#failed[@]} -gt 0 ]; then
    echo "fuzz: ${#failed[@]} of $# failed: ${failed[*]}" >&2
    echo "fuzz: the inputs are in fuzz/artifacts; mend what they show, and keep each as" \
        "crates/esker-fuzz/found/TARGET/NAME, which \`make test\` runs from then on" >&2
    exit 1
fi
echo "fuzz: all of $# held"
