#!/usr/bin/env bash
# Opens reports in Chromium: not blank, light and dark, nothing wider than the screen.
#
#   scripts/browser.sh        runs the tests; without a browser it says that they were skipped
#   scripts/browser.sh find   prints the browser's path, or exits with 1
#
# ESKER_CHROMIUM names another browser of that family.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"

find_browser() {
    local name
    for name in "${ESKER_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
        if [ -n "$name" ] && command -v "$name"; then return; fi
    done
    return 1
}

if [ "${1:-}" = find ]; then
    find_browser
    exit
fi

scripts/setup.sh browser || true
if ! browser=$(find_browser); then
    echo "SKIPPED: the tests that open reports in a browser: there is no Chromium here" >&2
    echo "SKIPPED: install it with: apt-get install chromium (elsewhere: the package of that name)" >&2
    exit 0
fi
# The whole workspace with the same feature, for what `make test` has just built: alone, the crate's
# dependencies have fewer features, and would be built once more.
ESKER_CHROMIUM="$browser" cargo test --workspace --locked --features esker/tracing --test it -- \
    --ignored browser
