#!/usr/bin/env bash
# A throw-away MariaDB with the engine ESKER in it, below target/, for trials and tests.
#
#   scripts/mariadb-server.sh start [OPTION…]   make its directory anew, and start it
#   scripts/mariadb-server.sh files             make its directory anew, no more
#   scripts/mariadb-server.sh again [OPTION…]   start it over the directory that it left
#   scripts/mariadb-server.sh stop              stop it
#   scripts/mariadb-server.sh kill              end it at once, as a crash does
#   scripts/mariadb-server.sh sql [WORD…]       the client, connected to it
#
# Needs what `scripts/mariadb.sh plugin` builds. It has no network port and no password: a socket in
# its directory is the only door. Options are mariadbd's. MARIADB_PRELOAD names libraries for the
# server alone.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(scripts/setup.sh target)
place=$(mkdir -p "$target/mariadb" && cd "$target/mariadb" && pwd)
files=${MARIADB_FILES:-$place/server}
# A server that starts deletes the temporary files of all that share the place for them.
temporary=$files.tmp
plugins=${MARIADB_PLUGINS:-$place/plugins}
socket=$files/socket
seconds=60

fail() {
    printf 'mariadb-server: %s\n' "$@" >&2
    exit 1
}
client() {
    mariadb --no-defaults --socket="$socket" --user=root "$@"
}
is_up() {
    client -e 'do 1' >/dev/null 2>&1
}

make_files() {
    rm -rf "$files" "$temporary"
    mkdir -p "$files" "$temporary"
    TMPDIR=$temporary mariadb-install-db --no-defaults --datadir="$files" --user="$(id -un)" --skip-test-db \
        --auth-root-authentication-method=normal >"$place/install-db.log" 2>&1 ||
        fail "its directory cannot be made: $place/install-db.log"
}

start() {
    [ -e "$plugins/ha_esker.so" ] || fail "there is no plugin; run: scripts/mariadb.sh plugin"
    ! is_up || fail "it runs already; stop it with: scripts/mariadb-server.sh stop"
    mkdir -p "$temporary"
    # The distribution's servers load nothing experimental unless told.
    LD_PRELOAD=${MARIADB_PRELOAD:-${LD_PRELOAD:-}} \
        mariadbd --no-defaults --datadir="$files" --user="$(id -un)" --socket="$socket" \
        --skip-networking --pid-file="$files/pid" --log-error="$files/log.err" \
        --tmpdir="$temporary" \
        --plugin-dir="$plugins" --plugin-maturity=experimental --plugin-load-add=ha_esker \
        --ignore-db-dirs='#esker' "$@" >/dev/null 2>&1 &
    local child=$! waited=0
    until is_up; do
        kill -0 "$child" 2>/dev/null || { tail -n 5 "$files/log.err" >&2; fail "it did not start"; }
        [ $((waited += 1)) -le $((seconds * 5)) ] || fail "it is not up after $seconds seconds"
        sleep 0.2
    done
    echo "it runs; connect with: mariadb --no-defaults --socket=$socket --user=root"
}

stop() {
    is_up || fail "it does not run"
    local child
    child=$(cat "$files/pid")
    client -e shutdown
    for _ in $(seq $((seconds * 5))); do
        kill -0 "$child" 2>/dev/null || return 0
        sleep 0.2
    done
    fail "it is still there after $seconds seconds"
}

kill_it() {
    local child
    child=$(cat "$files/pid") || fail "it does not run"
    kill -KILL "$child"
    while kill -0 "$child" 2>/dev/null; do sleep 0.1; done
}

case ${1:-} in
start) shift; make_files; start "$@" ;;
files) make_files ;;
again) shift; start "$@" ;;
stop) stop ;;
kill) kill_it ;;
sql) shift; client "$@" ;;
*) fail "give start, files, again, stop, kill or sql; the first lines of $0 say more" ;;
esac
