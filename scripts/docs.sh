#!/usr/bin/env bash
# Builds what a reader opens: the guide as a site, and the documentation of the crates behind it.
#
# The guide is made by mdbook, which is installed with cargo into target/tools the first time: half a
# minute to a few, and the network.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"
version=0.5.4
target=$(scripts/setup.sh target)
mdbook=$target/tools/bin/mdbook

if [ "$("$mdbook" --version 2>/dev/null)" != "mdbook v$version" ]; then
    echo "docs: installing mdbook $version" >&2
    cargo install --quiet --locked --root "$target/tools" --target-dir "$target/tools/build" \
        "mdbook@$version" || {
        echo "docs: mdbook could not be installed; it needs the network, once" >&2
        exit 1
    }
    rm -rf "$target/tools/build"
fi
"$mdbook" build docs --dest-dir "$target/guide"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --features esker/tracing
echo "docs: the guide is $target/guide/index.html, the crate $target/doc/esker/index.html"
