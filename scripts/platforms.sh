#!/usr/bin/env bash
# Checks that everything compiles for the systems of docs/platforms.md other than this one. Nothing
# is linked or run: for that a machine of the kind is needed.
#
#   scripts/platforms.sh               all of them
#   scripts/platforms.sh TARGET ...    only these, as rustup calls them
#
# What rustup lacks for a target it fetches.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"

if [ $# -eq 0 ]; then
    set -- aarch64-apple-darwin x86_64-apple-darwin x86_64-unknown-freebsd
fi
if ! command -v pkg-config >/dev/null; then
    echo "platforms: needs pkg-config; install it with: apt-get install pkg-config" >&2
    exit 1
fi
# There is no C compiler for those systems here. So zstd is told that its library is there already:
# a check never looks for it.
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
printf 'Name: libzstd\nDescription: never linked\nVersion: 1.5.7\nLibs: -lzstd\n' >"$room/libzstd.pc"
export ZSTD_SYS_USE_PKG_CONFIG=1 PKG_CONFIG_ALLOW_CROSS=1 PKG_CONFIG_PATH="$room"
deny=$(scripts/setup.sh deny)
for target in "$@"; do
    rustup target list --installed | grep -qx "$target" || rustup target add "$target"
    echo "platforms: $target"
    cargo clippy --locked -p esker -p esker-phrase --no-default-features --all-targets \
        --target "$target" --target-dir target/platforms -- $deny
    cargo clippy --locked --workspace --all-targets --target "$target" --target-dir target/platforms -- $deny
done
