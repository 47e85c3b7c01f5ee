#!/usr/bin/env bash
# Damages tables of the engine ESKER, and looks whether CHECK TABLE says so.
#
#   scripts/mariadb-check.sh      TOOL=PATH: a tool `esker` that is built already
#
# Whole tables of every type, and of every kind that the engine has, must be OK. Then the server is
# stopped, and the tool takes entries away, puts others there, and a byte of a file is turned. Needs
# the plugin that `make mariadb` builds; the server is one of its own, and is stopped at the end.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(scripts/setup.sh target)
place=$(cd "$target/mariadb" && pwd)
export MARIADB_FILES=$place/server-of-checks
server=scripts/mariadb-server.sh
tool=${TOOL:-$target/debug/esker}
[ -n "${TOOL:-}" ] || cargo build --locked -p esker-cli
failed=0 checks=0

is_up() { "$server" sql -e 'do 1' >/dev/null 2>&1; }
trap '! is_up || "$server" stop' EXIT
ask() { "$server" sql --batch --skip-column-names -e "$1" checked; }

# check STATEMENT WANTED: `*` in it stands for any text; without a warning it is OK.
check() {
    local got
    got=$(ask "$1" | cut -f3- | tr '\t\n' ': ')
    got=${got% } checks=$((checks + 1))
    # shellcheck disable=SC2053
    [[ "$got" == $2 ]] && return
    printf '%s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$got"
    failed=$((failed + 1))
}

# work TABLE WORD…: the tool, over what the table or partition is in.
work() {
    local keyspace=${keyspaces[$1]}
    "$tool" --db "$MARIADB_FILES/#esker" --keyspace "$keyspace" --hex "${@:2}"
}
# The number that the keys begin with of the rows, 1, of the key u, 2, and of the key v, 3.
index() { work "$1" scan --keys-only | cut -c1-8 | sort -u | sed -n "$2p"; }
# The first key of the rows or of an index; and its value.
key() { work "$1" scan "$(index "$1" "$2")" --keys-only --limit 1; }
value() { work "$1" get "$(key "$1" "$2")"; }

# Of each type, and of each kind of table.
"$server" start >/dev/null
"$server" sql -e "create database checked; create database covered"
# fill DATABASE SCRIPT: what the script prints, without what it asks.
fill() {
    { echo "set names utf8mb4; set default_storage_engine=ESKER;"; "$2" | sed '/^select/d'; } |
        "$server" sql --force "$1" >/dev/null 2>&1 || true
}
fill checked plugins/mariadb/sql/types.sh
fill covered plugins/mariadb/sql/covered.sh
columns='id int primary key, v int, u int, key (v), unique key (u)'
filling='select seq, seq % 7, nullif(seq, 3) from seq_1_to_100'
tables='entry row taken junk nokey stray other keyed file whole'
{
    echo "set default_storage_engine=ESKER;"
    for table in $tables; do
        echo "create table $table ($columns); insert into $table $filling;"
    done
    echo "create table ended ($columns) ttl='1d'; insert into ended $filling;"
    echo "create table ends ($columns) ttl='1d'; insert into ends $filling;"
    echo "create table fleeting ($columns) ttl='1s'; insert into fleeting $filling;"
    echo "create table hidden (v int, u varchar(9), key (v desc), unique key (u));"
    echo "insert into hidden select seq % 7, nullif(concat('u', seq), 'u3') from seq_1_to_100;"
    echo "create table numbered (v text); insert into numbered values ('a'), ('b');"
    echo "create table parts (id int auto_increment primary key, v int, key (v))"
    echo "partition by hash (id) partitions 2; insert into parts (v) select seq from seq_1_to_100;"
    echo "create table given (id int auto_increment primary key, v int) auto_increment = 5;"
    echo "insert into given (v) values (1); optimize table file; optimize table whole;"
} | "$server" sql checked >/dev/null
mapfile -t tables < <(ask "select concat(table_schema, '.', table_name)
    from information_schema.tables where engine = 'ESKER'")
[ ${#tables[@]} -gt 100 ] || { echo "only ${#tables[@]} tables were made" >&2; exit 1; }
printf -v list ', %s' "${tables[@]}"
printf -v all ' status:OK%.0s' "${tables[@]}"
for way in '' quick extended; do check "check table ${list#, } $way" "${all# }"; done
check "create temporary table brief ($columns) engine=ESKER; insert into brief $filling;
    check table brief extended" 'status:OK'
check "begin; update whole set v = v + 1; delete from whole where id = 5; check table whole" \
    'status:OK'
check "lock tables whole write; delete from whole where id = 6; check table whole" 'status:OK'

# A counter that is behind is told, and is no fault.
check "update given set id = 50; check table given" \
    'Warning:ESKER: the next value of AUTO_INCREMENT is 6, and * there 50 status:OK'

# The damage: each kind in a table of its own.
declare -A keyspaces
while read -r table part keyspace; do
    keyspaces[${table}${part/NULL/}]=$keyspace
done < <(ask "select table_name, partition_name, keyspace from information_schema.esker_keyspaces
    where table_schema = 'checked'")
"$server" stop
work entry delete "$(key entry 3)"
work row delete "$(key row 1)"
work taken put "$(key taken 2)" 80000063
work junk put "$(key junk 1)" 0100
work nokey put "$(index nokey 3)55" ''
work stray put ffffffff00 ''
work other put "$(index other 1)80000001" "$(work other get "$(index other 1)80000002")"
work keyed put "$(index keyed 1)80" "$(value keyed 1)"
work ended delete "$(key ended 3)"
work ends delete "$(key ends 1)"
work hidden delete "$(key hidden 3)"
work numbered put "$(index numbered 1)7fffffffffffffff" "$(value numbered 1)"
work partsp1 delete "$(key partsp1 2)"
file=$(work file levels --files | awk -v name="keyspace ${keyspaces[file]}:" '
    index($0, "keyspace ") == 1 { is_it = index($0, name) == 1 }
    is_it && /^L[0-9]+ +[0-9]+ +[0-9]/ { print $2; exit }')
file=$(printf '%s/#esker/%06d.sst' "$MARIADB_FILES" "$file")
byte=$(od -An -tu1 -j 40 -N 1 "$file")
# shellcheck disable=SC2059
printf "\\x$(printf %02x $((byte ^ 1)))" | dd of="$file" bs=1 seek=40 conv=notrunc status=none
"$server" again >/dev/null

corrupt='error:Corrupt'
check "check table entry" "Warning:ESKER: index 'v' has no entry for the row * $corrupt"
check "check table entry quick" \
    "Warning:ESKER: index 'v' has 99 entries, and the table 100 rows $corrupt"
check "check table row" \
    "*index 'u' has an entry without a row: *'v' has an entry without a row: * $corrupt"
check "check table row quick" "*'u' has 100 entries, and the table 99 *'v' has 100 * $corrupt"
check "check table taken" \
    "Warning:ESKER: index 'u' has the entry of another for the row * $corrupt"
check "check table junk" "Warning:ESKER: the row * is not what was written $corrupt"
check "check table nokey quick" \
    "Warning:ESKER: index 'v' has an entry that is none: * has 101 entries, * $corrupt"
check "check table nokey" "Warning:ESKER: index 'v' has an entry that is none: * $corrupt"
check "check table stray quick" "Warning:ESKER: the entry ffffffff00 is of no index * $corrupt"
check "check table other" \
    "*the row * has the columns of another key *'u' has an entry that its row has not: * $corrupt"
check "check table keyed quick" "Warning:ESKER: the row * has a key that is none * $corrupt"
check "check table ended" "Warning:ESKER: index 'v' has no entry for the row * $corrupt"
check "check table ends" "*'u' has an entry without a row: *'v' has an entry *: * $corrupt"
check "check table hidden" "Warning:ESKER: index 'v' has no entry for the row * $corrupt"
check "check table numbered" "Warning:ESKER: a row has the number 9223372036854775807,* $corrupt"
check "check table parts" \
    "error:Partition p1 returned error *'v' has no entry for the row * $corrupt"
check "alter table parts check partition p0" 'status:OK'
check "check table file" "Warning:ESKER: *checksum* $corrupt"
check "check table whole extended" "Warning:ESKER: *checksum* $corrupt"
check "check table whole, given, fleeting" 'status:OK status:OK status:OK'
# Who locks rows comes to an entry that is no row's once, and not for ever.
update() {
    local statement="update $1 force index ($2) set u = u where $2 > -1" got
    got=$(ask "set max_statement_time = 30; $statement" 2>&1 | sed -n 's/^\(ERROR [0-9]*\).*/\1/p' || true)
    checks=$((checks + 1))
    [ "$got" = "$3" ] && return
    printf '%s\n  wanted: %s\n  got:    %s\n' "$statement" "$3" "$got"
    failed=$((failed + 1))
}
update row v "ERROR 1034"
update row u "ERROR 1034"
update other u "ERROR 1034"
update hidden v ''
update entry v ''
update ends v ''
# An index is made anew from the rows.
check "alter table entry force, algorithm=copy; check table entry" 'status:OK'
check "alter table taken force; check table taken" 'status:OK'

printf 'checks       %6d answers of CHECK TABLE, %d other than wanted, %d tables made\n' "$checks" \
    "$failed" "${#tables[@]}"
[ "$failed" = 0 ]
