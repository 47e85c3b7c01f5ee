#!/usr/bin/env bash
# Builds the tool `esker` in release mode, prints its path, and says on one line of standard error that
# it builds.
#
# On a terminal the line tells how long cargo has been at it, how many crates it has begun, and which
# one is the last. Where there is nothing to build, nothing is said. When cargo fails, what it said is
# shown whole, and its exit code is ours.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"

log=$(mktemp)
trap 'rm -f "$log"' EXIT

is_told=no
crates=0
doing=""

took() { printf '%d min %02d s' $((SECONDS / 60)) $((SECONDS % 60)); }

# On two cores.
tell() {
    if [ -t 2 ]; then
        local text
        text="building the tool: $(took) (about 4 min the first time), crate $crates: $doing"
        # What is wider than the terminal would stay behind when the line is written again.
        printf '\r\033[K%s' "${text:0:$(($(tput cols 2>/dev/null || echo 80) - 1))}" >&2
    elif [ "$is_told" = no ]; then
        echo "building the tool (about 4 minutes the first time) …" >&2
    fi
    is_told=yes
}

# Reads a line of cargo's when there is one; after a second without any, the time is told again.
watch_cargo() {
    local text
    while true; do
        if IFS= read -r -t 1 text; then
            printf '%s\n' "$text" >>"$log"
            case $text in
            *Compiling\ *)
                crates=$((crates + 1))
                doing=${text#*Compiling }
                doing=${doing%% (*}
                tell
                ;;
            *Downloading\ * | *Updating\ * | *Blocking\ *)
                doing=${text#"${text%%[! ]*}"}
                tell
                ;;
            esac
        elif [ $? -le 128 ]; then
            break
        elif [ "$is_told" = yes ]; then
            tell
        fi
    done
    if [ "$is_told" = yes ] && [ -t 2 ]; then
        printf '\r\033[Kbuilding the tool took %s\n' "$(took)" >&2
    fi
}

code=0
CARGO_TERM_COLOR=never CARGO_TERM_PROGRESS_WHEN=never \
    cargo build --release --locked -p esker-cli 2>&1 | watch_cargo || code=${PIPESTATUS[0]}
if [ "$code" != 0 ]; then
    cat "$log" >&2
    exit "$code"
fi
echo "$(scripts/setup.sh target)/release/esker"
