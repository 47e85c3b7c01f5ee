#!/usr/bin/env bash
# Runs random statements over the engine ESKER while its plugin gets no memory now and then.
#
#   scripts/mariadb-memory.sh [STATEMENTS] [SEED]    how many, 1500, and which, 5
#
# Statements may fail, with error 1041. The server must not end, and each index must have the rows
# that the table has. Needs the plugin that `make mariadb` builds; the server is one of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(scripts/setup.sh target)
place=$(cd "$target/mariadb" && pwd)
export MARIADB_FILES=$place/server-without-memory ESKER_NO_MEMORY=$place/no_memory.is_on
server=scripts/mariadb-server.sh

g++ -std=gnu++17 -O1 -Wall -Wextra -shared -fPIC plugins/mariadb/no_memory.cc -o "$place/no_memory.so"
rm -f "$ESKER_NO_MEMORY"
LD_PRELOAD=$place/no_memory.so "$server" start >/dev/null
trap 'rm -f "$ESKER_NO_MEMORY"; "$server" stop' EXIT
"$server" sql -e "create database tables_of"
{
    echo "set default_storage_engine=ESKER;"
    plugins/mariadb/sql/random.sh "${1:-1500}" "${2:-5}"
} >"$place/no_memory.sql"
touch "$ESKER_NO_MEMORY"
"$server" sql --force tables_of <"$place/no_memory.sql" >"$place/no_memory.answers" 2>&1 || true
rm "$ESKER_NO_MEMORY"

failed=$(grep -c '^ERROR 1041' "$place/no_memory.answers" || true)
ask() { "$server" sql --batch --skip-column-names -e "$1" tables_of; }
rows=$(ask "select count(*) from r")
bad=0
# A range of all that there is, so that the index is what is read.
for least in "a -1" "b ''" "c -999" "e ''" "f -1"; do
    index=${least% *}
    counted=$(ask "select count(*) from r force index ($index)
        where $index is null or $index >= ${least#* }")
    [ "$counted" = "$rows" ] || { echo "r has $rows rows, index $index has $counted"; bad=1; }
done
checked=$(ask "check table r, q" | cut -f4 | sort -u)
[ "$checked" = OK ] || { ask "check table r, q"; bad=1; }
[ "$failed" -gt 0 ] || { echo "no statement lacked memory: this test tests nothing"; bad=1; }
printf 'memory       %6d statements without memory, %d rows left\n' "$failed" "$rows"
exit "$bad"
