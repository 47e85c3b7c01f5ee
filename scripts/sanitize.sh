#!/usr/bin/env bash
# Runs the unsafe rooms, what threads share, and both C libraries with their programs in C under the
# compiler's sanitizers.
#
#   scripts/sanitize.sh            both, one after the other
#   scripts/sanitize.sh address    AddressSanitizer: memory that is not ours, or no longer
#   scripts/sanitize.sh thread     ThreadSanitizer: two threads at one place without an order
#
# They see what Miri cannot: mapped files, system calls, the whole engine at work on real threads.
# ESKER_STRESS multiplies what the threads do.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"

if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "sanitize: needs a nightly toolchain; install it with: rustup toolchain install nightly" >&2
    exit 1
fi
# ThreadSanitizer has to see the standard library's locks, so that is built along.
if [ ! -f "$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ]; then
    rustup component add --toolchain nightly rust-src ||
        { echo "sanitize: this nightly has no rust-src; try: rustup update nightly" >&2; exit 1; }
fi
host=$(rustc +nightly -vV | sed -n 's/^host: //p')
rooms=(env::pages env::real store::mem store::vlog flow::current flow::values::value_log flow::write)
# This one counts the process's threads, and ThreadSanitizer has one of its own.
skipped=no_thread_is_started_before_there_is_work

# rustix calls the system itself, and a sanitizer sees only what goes through the C library: to
# ThreadSanitizer a window of a file, mapped where another thread's window was unmapped, is a race.
flags="--cfg=rustix_use_libc"

# Naming the target keeps build scripts, and crates that run in the compiler, out of it.
run() {
    local sanitizer=$1
    shift
    echo "sanitize: $sanitizer"
    RUSTFLAGS="-Zsanitizer=$sanitizer $flags" cargo +nightly test --locked -p esker "$@" \
        --target "$host" --target-dir "target/$sanitizer" --lib -- "${rooms[@]}" --skip "$skipped"
    RUSTFLAGS="-Zsanitizer=$sanitizer $flags" cargo +nightly test --locked -p esker "$@" \
        --target "$host" --target-dir "target/$sanitizer" --test it -- threads:: value_pool::
    RUSTFLAGS="-Zsanitizer=$sanitizer $flags" cargo +nightly test --locked -p esker-phrase "$@" \
        --target "$host" --target-dir "target/$sanitizer" --lib -- shifting
    RUSTFLAGS="-Zsanitizer=$sanitizer $flags" cargo +nightly test --locked -p esker-kvs "$@" \
        --target "$host" --target-dir "target/$sanitizer" --lib -- abi instance
    RUSTFLAGS="-Zsanitizer=$sanitizer $flags" cargo +nightly test --locked -p esker-capi "$@" \
        --target "$host" --target-dir "target/$sanitizer" --lib
}

# The library has no sanitizer of its own in it then; it takes that of the program, so the programs
# are compiled with one. Theirs is of another compiler, and speaks the same version.
run_programs() {
    echo "sanitize: address, libkvs with programs in C"
    ESKER_CC_FLAGS=-fsanitize=address RUSTFLAGS="-Zsanitizer=address $flags" \
        cargo +nightly test --locked -p esker-kvs \
        --target "$host" --target-dir target/address --test it -- programs::
    echo "sanitize: address, libesker with programs in C"
    ESKER_CC_FLAGS=-fsanitize=address RUSTFLAGS="-Zsanitizer=address $flags" \
        cargo +nightly test --locked -p esker-capi \
        --target "$host" --target-dir target/address --test it -- programs::
}

wanted=${1:-both}
case $wanted in
address | thread | both) ;;
*)
    echo "sanitize: give address, thread or nothing" >&2
    exit 2
    ;;
esac
if [ "$wanted" != thread ]; then
    run address
    run_programs
fi
if [ "$wanted" != address ]; then
    run thread -Zbuild-std
fi
