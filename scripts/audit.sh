#!/usr/bin/env bash
# Checks what comes from outside, in all three workspaces: licences, duplicates, sources, and known
# holes, which are asked for over the network. `scripts/audit.sh bans licenses sources` needs none.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"

if ! cargo deny --version >/dev/null 2>&1; then
    echo "audit: needs cargo-deny; install it with: cargo install --locked cargo-deny" >&2
    exit 1
fi
for workspace in . crates/esker-bench-rivals fuzz; do
    echo "audit: $workspace"
    # Each has a deny.toml of its own, which is looked for where the command runs.
    (cd "$workspace" && cargo deny --locked check "$@")
done
