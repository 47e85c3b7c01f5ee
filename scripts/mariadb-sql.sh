#!/usr/bin/env bash
# Holds tables of the engine ESKER against those of InnoDB in the same server: the same statements
# must get the same answers and the same errors.
#
#   scripts/mariadb-sql.sh [STATEMENTS] [SEED]    how many random ones, 3000, and which, 29
#
# The statements are plugins/mariadb/sql/*.sql, and what plugins/mariadb/sql/*.sh print. Needs the
# plugin that `make mariadb` builds; the server is one of its own, and is stopped at the end.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(scripts/setup.sh target)
place=$(cd "$target/mariadb" && pwd)
answers=$place/answers
export MARIADB_FILES=$place/server-of-tests
server=scripts/mariadb-server.sh

mkdir -p "$answers"
"$server" start >/dev/null
trap '"$server" stop' EXIT
failed=0

# compare NAME [COLUMNS]: the statements are in $answers/NAME.sql; of answers, those columns alone
# are held against each other.
compare() {
    local engine name=$1 columns=${2:-} form=--table
    [ -z "$columns" ] || form=--batch
    for engine in InnoDB ESKER; do
        {
            echo "create or replace database tables_of; use tables_of;"
            echo "set default_storage_engine=$engine, default_tmp_storage_engine=$engine;"
            echo "set names utf8mb4;"
            cat "$answers/$name.sql"
        } | "$server" sql --force "$form" --comments 2>&1 | cut -f "${columns:-1-}" \
            >"$answers/$name.$engine" || true
    done
    # Errors tell the line that a statement begins in, the same for both; so are those of a server that
    # is gone.
    if ! "$server" sql -e 'do 1' >/dev/null 2>&1; then
        printf '%-12s the server has ended\n' "$name"
        failed=1
    elif diff "$answers/$name.InnoDB" "$answers/$name.ESKER" >"$answers/$name.diff"; then
        printf '%-12s %6d statements, equal answers\n' "$name" "$(grep -c ';' "$answers/$name.sql")"
    else
        printf '%-12s differs: diff %s\n' "$name" "$answers/$name."'{InnoDB,ESKER}'
        head -n 20 "$answers/$name.diff"
        failed=1
    fi
}

cp plugins/mariadb/sql/{statements,alter}.sql "$answers/"
plugins/mariadb/sql/types.sh >"$answers/types.sql"
plugins/mariadb/sql/covered.sh >"$answers/covered.sql"
plugins/mariadb/sql/pushed.sh >"$answers/pushed.sql"
plugins/mariadb/sql/ranges.sh >"$answers/ranges.sql"
plugins/mariadb/sql/merged.sh >"$answers/merged.sql"
plugins/mariadb/sql/plans.sh >"$answers/plans.sql"
plugins/mariadb/sql/altered.sh "$((${1:-3000} / 2))" "${2:-29}" >"$answers/altered.sql"
plugins/mariadb/sql/random.sh "${1:-3000}" "${2:-29}" >"$answers/random.sql"
for name in statements alter types covered pushed ranges merged altered random; do compare "$name"; done
# Which table, by which index; not how many rows that are expected to be.
compare plans 1-4,6
exit "$failed"
