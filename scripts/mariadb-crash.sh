#!/usr/bin/env bash
# Ends a server with the engine ESKER in it as a crash does, and looks at what is there afterwards.
#
#   scripts/mariadb-crash.sh steps          at each step of a commit in two phases
#   scripts/mariadb-crash.sh tables [KIND…] at each step of an ALTER without a copy, of a load and its
#                                           thread, and of a commit of rows whose keys change; KIND is
#                                           alters, drops, grows, moves or loads
#   scripts/mariadb-crash.sh any [ROUNDS]   at any moment of ROUNDS, 4, while clients write
#   scripts/mariadb-crash.sh power [ROUNDS] the first and the last over a file system that forgets
#                                           what was not synced, ROUNDS, 4, each with and without log
#   scripts/mariadb-crash.sh                all of it
#
# With and without a binary log, alone and, with it, together with InnoDB. A commit that was answered is there;
# what is in two tables is in both or in none; tables that were being made and altered are whole or
# are not there. With `power` what the binary log has is what the tables have, and what an unsynced
# commit left is shown to be lost. Needs the plugin that `make mariadb` builds, and for `power` root
# and /dev/fuse.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(scripts/setup.sh target)
place=$(mkdir -p "$target/mariadb" && cd "$target/mariadb" && pwd)
export MARIADB_FILES=$place/server-of-crashes MARIADB_PLUGINS=$place/plugins-crashing
server=scripts/mariadb-server.sh
acks=$place/acks
log=("--log-bin=$MARIADB_FILES/binlog")
failed=0 cases=0
# Of `power`: what survives a cut lies in $synced, and the process that serves it is $cutter.
synced=$place/server-of-cuts cutter='' seed='' unsynced=0

is_up() { "$server" sql -e 'do 1' >/dev/null 2>&1; }
cleanup() {
    ! is_up || "$server" kill
    end_files
    rm -rf "$acks"
}
trap cleanup EXIT

begin_files() {
    mkdir -p "$MARIADB_FILES"
    # What the one before said would be read as this one's.
    rm -f "$place/power_cut.said"
    "$place/power_cut" "$synced" "$MARIADB_FILES" $seed >"$place/power_cut.said" &
    cutter=$!
    until grep -qs ready "$place/power_cut.said"; do
        kill -0 "$cutter" 2>/dev/null || { echo "power needs root and /dev/fuse" >&2; exit 1; }
        sleep 0.05
    done
}
# The server has ended.
end_files() {
    [ -n "$cutter" ] || return 0
    kill "$cutter"
    wait "$cutter"
    cutter=''
    unsynced=$((unsynced + $(tail -n1 "$place/power_cut.said")))
}

# start OPTION…: a server with files of its own.
start() {
    if [ -z "$cutter" ]; then
        "$server" start "$@" >/dev/null
    else
        end_files
        MARIADB_FILES=$synced "$server" files
        begin_files
        "$server" again "$@" >/dev/null
    fi
}
# again OPTION…: after a crash.
again() {
    [ -z "$cutter" ] || { end_files; begin_files; }
    "$server" again "$@" >/dev/null
}

ask() { "$server" sql --batch --skip-column-names -e "$1" crashed; }

# expect WHAT WANTED GOT
expect() {
    cases=$((cases + 1))
    [ "$2" = "$3" ] && return
    printf '%s: wanted %s, got %s\n' "$@"
    failed=$((failed + 1))
}

# until_gone: the server ends by itself.
until_gone() {
    local child
    child=$(cat "$MARIADB_FILES/pid")
    for _ in $(seq 100); do
        kill -0 "$child" 2>/dev/null || return 0
        sleep 0.1
    done
    echo "the server did not end"
    exit 1
}

# step PLACE TABLES ROWS OPTION…: a commit that ends there leaves so many rows in each table.
step() {
    local where=$1 tables=$2 rows=$3 table statements=begin
    shift 3
    for table in $tables; do statements+="; insert into $table (v) values (1)"; done
    "$server" sql crashed -e "set global esker_crash_at = '$where'; $statements; commit" \
        >/dev/null 2>&1 || true
    until_gone
    again "$@"
    for table in $tables; do
        expect "$where of a commit to $tables with ${*:-no log}, $table" "$rows" \
            "$(ask "select count(*) from $table")"
        ask "delete from $table"
    done
    expect "transactions left after $where" '' "$(ask "xa recover")"
}

make_tables() {
    "$server" sql -e "create database crashed; use crashed;
        create table e (id int auto_increment primary key, v int, key (v)) engine=ESKER;
        create table f like e; alter table e add column w varchar(20);
        create table i (id int auto_increment primary key, v int) engine=InnoDB;"
}

# With a binary log it decides. Without one, and with two engines, a log of the server should, but
# this release reads it and then rolls all back that is prepared (xarecover_handlerton in its
# sql/handler.cc): an engine that was told to commit before the crash is then alone. So nothing is
# asked of that step. With one engine there is one phase.
steps() {
    local tables
    start "${log[@]}"
    make_tables
    for tables in "e f" "e i"; do
        step "before prepare" "$tables" 0 "${log[@]}"
        step "after prepare" "$tables" 0 "${log[@]}"
        step "after commit ordered" "$tables" 1 "${log[@]}"
        step "before commit" "$tables" 1 "${log[@]}"
        step "after commit" "$tables" 1 "${log[@]}"
    done
    "$server" stop
    start
    make_tables
    step "before commit" "e f" 0
    step "after commit" "e f" 1
    step "before prepare" "e i" 0
    step "after prepare" "e i" 0
    prepared
    cut_drop
    "$server" kill
}

# What was prepared by name outlives the server, with its locks.
prepared() {
    ask "xa start 'a'; insert into e (id, v) values (100, 7); update f set v = 8 where id = 1;
        insert into f (id, v) values (100, 7); xa end 'a'; xa prepare 'a'"
    "$server" kill
    again
    expect "a transaction that was prepared by name" $'1\t1\t0\ta' "$(ask "xa recover")"
    expect "its rows before it is ended" 0 "$(ask "select count(*) from e where v = 7")"
    expect "its locks" "ERROR 1205" "$("$server" sql crashed -e \
        "set esker_lock_wait_timeout = 0; insert into e (id, v) values (100, 1)" 2>&1 |
        sed -n 's/^\(ERROR [0-9]*\).*/\1/p')"
    ask "xa commit 'a'"
    "$server" kill
    again
    expect "its rows afterwards" "1 1" "$(ask "select (select count(*) from e where v = 7),
        (select count(*) from f where v = 7)" | tr '\t' ' ')"
}

# A server that ends within DROP TABLE leaves partitions of a table that it knows no more. DROP
# TABLE takes them away, and leaves those of others.
cut_drop() {
    local table
    for table in p pp; do
        ask "create table $table (id int primary key, v int, key (v)) engine=ESKER
            partition by hash (id) partitions 3; insert into $table values (1, 1), (2, 2), (3, 3)"
    done
    # The server does not sync its lists of partitions: without them no engine's table is read.
    [ -z "$cutter" ] || sync "$MARIADB_FILES"/crashed/*.par
    "$server" sql crashed -e "set global esker_crash_at = 'after drop'; drop table p" \
        >/dev/null 2>&1 || true
    until_gone
    again
    expect "partitions that a DROP TABLE left which was cut" 2 "$(ask "select count(*)
        from information_schema.esker_keyspaces where table_name = 'p'")"
    # After a power cut the server's definition may be there, and its list of partitions is not: then
    # DROP TABLE takes away the definition, and a second one the rest.
    [ ! -e "$MARIADB_FILES/crashed/p.frm" ] || ask "drop table p"
    expect "DROP TABLE of what was left" '' "$(ask "drop table p" 2>&1)"
    expect "a table of the same name" '' "$(ask "create table p (id int primary key, v int)
        engine=ESKER partition by hash (id) partitions 3; insert into p values (1, 1)" 2>&1)"
    expect "its rows, and those of another" "1 3" "$(ask "select (select count(*) from p),
        (select count(*) from pp)" | tr '\t' ' ')"
    expect "DROP TABLE of a table that there is not" "ERROR 1051" \
        "$(ask "drop table p; drop table p" 2>&1 | sed -n 's/^\(ERROR [0-9]*\).*/\1/p')"
}

# cut WHERE STATEMENT OPTION…: the server ends there within the statement, and starts again.
cut() {
    local where=$1 statement=$2
    shift 2
    "$server" sql crashed -e "set global esker_crash_at = '$where'; $statement" >/dev/null 2>&1 || true
    until_gone
    again "$@"
}

# is_whole WHAT TABLE: it can be read, by each index, and nothing is left of what did not come about.
is_whole() {
    expect "$1: CHECK TABLE $2" "crashed.$2 check status OK" "$(ask "check table $2" | tr '\t' ' ')"
    expect "$1: files to be taken in" '' "$(ls "$MARIADB_FILES/#esker/sql.load" 2>/dev/null)"
}

# alters OPTION…: of the catalogue's one batch all is done, or nothing, whatever the server had
# written of its own by then.
alters() {
    local table where kind altered count
    for table in one parts; do
        kind=''
        [ $table = one ] || kind='partition by hash (id) partitions 3'
        for where in "before index" "after index" "before alter" "after alter"; do
            altered=0
            [ "$where" != "after alter" ] || altered=1
            ask "create or replace table $table (id int primary key, v int, w int, key old (w))
                engine=ESKER $kind; insert into $table select seq, seq, seq % 7 from seq_1_to_2000"
            cut "$where" "alter table $table add unique new (v, id), drop key old,
                add column x int default 5" "$@"
            is_whole "$where of an ALTER with ${*:-no log}" $table
            count=$(ask "select concat(sum(column_name = 'x'), ' ', sum(column_key != '')) from
                information_schema.columns where table_name = '$table'")
            expect "$where of an ALTER with ${*:-no log}: its columns and keys" \
                "$altered 2" "$count"
            expect "$where: rows" 2000 "$(ask "select count(*) from $table")"
            [ $altered = 0 ] || expect "$where: rows by what is new" "2000 10000" \
                "$(ask "select count(*), sum(x) from $table force index (new) where v > 0" | tr '\t' ' ')"
            expect "the same ALTER afterwards" '' "$([ $altered = 1 ] || ask "alter table $table
                add unique new (v, id), drop key old, add column x int default 5" 2>&1)"
            is_whole "after another ALTER" $table
        done
        for where in "before alter" "after alter"; do
            ask "create or replace table $table (id int primary key, v int) engine=ESKER $kind;
                insert into $table select seq, seq from seq_1_to_2000"
            cut "$where" "alter table $table add column x int default 5" "$@"
            ask "alter table $table add column if not exists x int default 5"
            ask "alter table $table alter x set default 6; insert into $table (id) values (0)"
            expect "$where of ADD COLUMN" 10006 "$(ask "select sum(x) from $table")"
            is_whole "$where of ADD COLUMN" $table
        done
    done
    expect "tables that the engine has and the server has not" '' "$(ask "select table_name $strays")"
}

# drops OPTION…: rows of each age are read after a column of theirs went at once.
drops() {
    local table where kind columns
    for table in one parts; do
        kind=''
        [ $table = one ] || kind='partition by hash (id) partitions 3'
        for where in "before alter" "after alter"; do
            columns=5
            [ "$where" = "before alter" ] || columns=4
            ask "create or replace table $table (id int primary key, a varchar(20), v int, t text,
                w int default 3, key k (v)) engine=ESKER $kind; insert into $table (id, a, v, t)
                select seq, concat('a', seq), seq % 10, repeat('t', seq % 50) from seq_1_to_2000"
            cut "$where" "alter table $table drop column a, algorithm=instant" "$@"
            is_whole "$where of DROP COLUMN with ${*:-no log}" $table
            expect "$where of DROP COLUMN with ${*:-no log}: columns" $columns "$(ask "select
                count(*) from information_schema.columns where table_name = '$table'")"
            expect "$where of DROP COLUMN: rows" "2000 9000 49000 6000" "$(ask "select count(*),
                sum(v), sum(length(t)), sum(w) from $table" | tr '\t' ' ')"
            ask "alter table $table drop column if exists a;
                insert into $table (id, v, t) values (3000, 4, 'new');
                alter table $table add column a int default 7, drop column t, algorithm=instant;
                update $table set w = 4 where id <= 1000"
            "$server" kill
            again "$@"
            is_whole "after another DROP COLUMN" $table
            expect "rows of each age" "2001 9004 7003 14007" "$(ask "select count(*), sum(v), sum(w),
                sum(a) from $table" | tr '\t' ' ')"
            expect "the same by an index" "201 1407" "$(ask "select count(*), sum(a) from $table
                force index (k) where v = 4" | tr '\t' ' ')"
        done
    done
}

# grows OPTION…: texts in keys become longer, alone and while an index is built over them.
grows() {
    local where change='modify b varchar(30) not null, modify c varchar(40)' added lengths index
    for where in "before index" "after index" "before alter" "after alter"; do
        for added in '' ', add key if not exists cb (c(5), b)'; do
            [ -n "$added" ] || [[ $where != *index ]] || continue
            lengths="10 10"
            [ "$where" != "after alter" ] || lengths="30 40"
            ask "create or replace table k (b varchar(10) primary key, a int, c varchar(10),
                key ca (c, a), unique ac (a, c)) engine=ESKER; insert into k
                select concat('b', seq), seq % 7, concat('c', seq) from seq_1_to_2000"
            cut "$where" "alter table k $change$added, algorithm=nocopy" "$@"
            is_whole "$where of longer keys with ${*:-no log}" k
            expect "$where of longer keys with ${*:-no log}: lengths" "$lengths" "$(ask "select
                group_concat(character_maximum_length order by column_name separator ' ') from
                information_schema.columns where table_name = 'k' and column_name in ('b', 'c')")"
            ask "alter table k $change$added, algorithm=nocopy;
                insert into k values (repeat('b', 30), 3, repeat('c', 40));
                update k set c = concat(c, repeat('x', 20)) where b < 'b15'"
            "$server" kill
            again "$@"
            is_whole "after longer keys" k
            for index in "primary b" "ca c" "ac a" ${added:+"cb c"}; do
                expect "rows by ${index% *}" "2001 6003" "$(ask "select count(*), sum(a) from k
                    force index (${index% *}) where ${index#* } >= ''" | tr '\t' ' ')"
            done
        done
    done
}

# moves OPTION…: rows whose keys change do so in all indexes.
moves() {
    local where wanted index
    for where in "before prepare" "after prepare" "after commit ordered" "before commit" \
        "after commit"; do
        [ $# != 0 ] || [[ $where != *prepare* && $where != *ordered* ]] || continue
        wanted="99 54950 51400"
        case $where in
        *prepare) wanted="100 5050 5050" ;;
        "before commit") [ $# != 0 ] || wanted="100 5050 5050" ;;
        esac
        ask "create or replace table m (id int primary key, k int, u int, key (k), unique (u))
            engine=ESKER; insert into m select seq, seq % 5, seq from seq_1_to_100"
        cut "$where" "begin; update m set id = id + 1000, k = 9 - k, u = -u where id <= 50;
            update m set u = u + 1000 where u > 0; delete from m where id = 100; commit" "$@"
        for index in primary k u; do
            expect "$where of moved rows with ${*:-no log}, by $index" "$wanted" "$(ask "select
                count(*), sum(id), sum(u) from m force index ($index) where k > -1 and u > -100
                and id > 0" | tr '\t' ' ')"
        done
        is_whole "$where of moved rows with ${*:-no log}" m
    done
}

# loads OPTION…
loads() {
    local where wanted=60000
    # What an index entry and the row take together is more than a statement writes before it makes files.
    local rows="select seq, seq * 7 % 60001, repeat(md5(seq), 4) from seq_1_to_60000"
    for where in "in load thread" "before load" "before files" "after files" "after ingest" \
        "after rows" "after load" "before prepare" "after prepare" "after commit ordered" \
        "before commit" "after commit"; do
        # With one engine and no log there is one phase.
        [ $# != 0 ] || [[ $where != *prepare* && $where != *ordered* ]] || continue
        ask "create or replace table l (id int auto_increment primary key, v int, t text, key (v))
            engine=ESKER"
        cut "$where" "insert into l $rows" "$@"
        case $where in
        "before commit") wanted=0; [ $# = 0 ] || wanted=60000 ;;
        after\ commit*) wanted=60000 ;;
        *) wanted=0 ;;
        esac
        expect "$where of a load with ${*:-no log}: rows" "$wanted" "$(ask "select count(*) from l")"
        is_whole "$where of a load with ${*:-no log}" l
        [ "$wanted" != 0 ] || ask "insert into l $rows"
        expect "rows by an index" "60000 60000" "$(ask "select count(*), count(distinct v) from l
            force index (v) where v >= 0" | tr '\t' ' ')"
    done
    for where in "in load thread" "before load" "before files" "after files" "after ingest" \
        "after rows" "after load"; do
        cut "$where" "alter table l add column n int default 3 first" "$@"
        expect "$where of a copy: rows" 60000 "$(ask "select count(*) from l")"
        is_whole "$where of a copy" l
    done
    expect "tables that the engine has and the server has not" '' "$(ask "select table_name $strays")"
}

tables() {
    local kind kinds=("$@")
    [ $# != 0 ] || kinds=(alters drops grows moves loads)
    start "${log[@]}"
    "$server" sql -e "create database crashed"
    for kind in "${kinds[@]}"; do "$kind" "${log[@]}"; done
    "$server" kill
    start
    "$server" sql -e "create database crashed"
    for kind in "${kinds[@]}"; do "$kind"; done
    "$server" kill
}

# write CLIENT: rows in two engines and three tables, each commit noted when it is answered.
write() {
    local number=0
    while ((number += 1)); do
        printf 'begin; insert into w values (%d, %d, repeat("x", %d));\n' "$1" "$number" $((number % 900))
        printf 'insert into b values (%d, %d); update s set n = n + 1 where client = %d;\n' "$1" "$number" "$1"
        printf 'update m set id = id + 10, k = (k * 7 + 1) %% 101, n = n + 1 where client = %d;\n' "$1"
        printf 'insert into g (v) values (1); delete from g; commit; select %d;\n' "$number"
    done | "$server" sql --batch --skip-column-names --unbuffered crashed >"$acks/$1" 2>/dev/null || true
}

# logged CLIENT: its rows in the binary log, by whole transactions.
logged() {
    local file
    ask "show binary logs" | while read -r file _; do
        ask "show binlog events in '$file'" </dev/null
    done | awk -F'\t' -v row="insert into w values ($1," '
        $3 == "Gtid" { begun = 0 }
        $3 == "Annotate_rows" && index($6, row) { begun++ }
        $3 == "Xid" { logged += begun; begun = 0 }
        END { print logged + 0 }'
}

# What follows SELECT: tables and partitions that the engine has and the server does not know.
strays='from information_schema.esker_keyspaces where (table_schema, table_name) not in
    (select table_schema, table_name from information_schema.tables)'

# define: tables are made, filled, altered, renamed, emptied and dropped.
define() {
    while :; do
        printf '%s\n' "create or replace table d1 (id int auto_increment primary key, v int);" \
            "insert into d1 (v) select seq from seq_1_to_50;" "alter table d1 add key (v);" \
            "rename table d1 to d2;" "truncate d2;" "insert into d2 (v) values (1);" \
            "alter table d2 drop key v, add column w int;" "drop table d2;" \
            "create or replace table d3 (a int) partition by hash (a) partitions 3;" \
            "insert into d3 values (1), (2), (3);" "alter table d3 coalesce partition 1;"
    done | "$server" sql crashed >/dev/null 2>&1 || true
}

# round NUMBER OPTION…
round() {
    local number=$1 client answered there table key clients=3
    shift
    mkdir -p "$acks"
    "$server" sql crashed -e "create or replace table w (client int, n int, t text,
            primary key (client, n), key (n, client)) engine=ESKER;
        create or replace table b (client int, n int, primary key (client, n)) engine=InnoDB;
        create or replace table s (client int primary key, n int) engine=ESKER;
        create or replace table m (id bigint primary key, client int, k int, n int, key (k),
            unique (client)) engine=ESKER; insert into m select seq, seq, 0, 0 from seq_1_to_$clients;
        create or replace table g (id bigint auto_increment primary key, v int) engine=ESKER;
        insert into s select seq, 0 from seq_1_to_$clients; set global default_storage_engine=ESKER"
    [ $# = 0 ] || ask "reset master"
    local writers=()
    for client in $(seq $clients); do write "$client" & writers+=($!); done
    define &
    writers+=($!)
    sleep "$((1 + RANDOM % 2)).$((RANDOM % 10))"
    "$server" kill
    wait "${writers[@]}"
    again "$@"
    for client in $(seq $clients); do
        answered=$(tail -n1 "$acks/$client")
        there=$(ask "select count(*) from w where client = $client")
        expect "rows of client $client, of which $answered were answered" yes \
            "$([ "$there" = "${answered:-0}" ] || [ "$there" = $((${answered:-0} + 1)) ] && echo yes || echo "$there")"
        expect "rows of client $client by the index, the last one, and counted" \
            "$there $there $there" "$(ask "select
                (select count(*) from w force index (n) where n > 0 and client = $client),
                (select ifnull(max(n), 0) from w where client = $client),
                (select n from s where client = $client)" | tr '\t' ' ')"
        key=$(awk -v n="$there" 'BEGIN { while (n-- > 0) k = (k * 7 + 1) % 101; print k + 0 }')
        expect "how often the row of client $client moved" "$there $((client + 10 * there))" \
            "$(ask "select n, id from m force index (k) where k = $key and client = $client" |
                tr '\t' ' ')"
        [ $# = 0 ] || expect "rows of client $client in InnoDB, and in the binary log" "$there $there" \
            "$(ask "select count(*) from b where client = $client") $(logged "$client")"
    done
    expect "values given before that come again" 0 "$(ask "set @most = (select sum(n) from s);
        insert into g (v) values (2); select last_insert_id() <= @most")"
    for table in $(ask "select table_name from information_schema.tables where
            table_schema = 'crashed' and engine = 'ESKER'"); do
        expect "table $table" "crashed.$table check status OK" \
            "$(ask "check table $table" | tr '\t' ' ')"
        expect "rows of $table are read" '' "$(ask "select 1 from $table limit 0")"
    done
    # As in cut_drop.
    for table in $(ask "select distinct table_name $strays and partition_name is not null"); do
        expect "DROP TABLE of partitions of $table" '' "$(ask "drop table $table" 2>&1)"
    done
    expect "tables that the engine has and the server has not" '' "$(ask "select table_name $strays")"
}

# The server takes over only a log of the kind that it had: each half has a server of its own.
any() {
    local number rounds=$1 options=()
    for number in $(seq "$rounds"); do
        if [ "$number" = 1 ] || [ "$number" = $((rounds / 2 + 1)) ]; then
            options=()
            [ "$number" != 1 ] || options=("${log[@]}")
            ! is_up || "$server" kill
            start "${options[@]}"
            "$server" sql -e "create database crashed"
        fi
        round "$number" "${options[@]}"
    done
    "$server" kill
}

# lost: whether a commit that was answered, and not synced, is gone after a cut. If none ever is, then
# this file system keeps what it should not, and nothing above is shown.
lost() {
    local option=--esker-durability=buffered client answered
    start "$option"
    "$server" sql -e "create database crashed; use crashed; create table w (client int, n int, t text,
        primary key (client, n)) engine=ESKER"
    mkdir -p "$acks"
    local number=0
    while ((number += 1)); do
        printf 'insert into w values (1, %d, "x"); select %d;\n' "$number" "$number"
    done | "$server" sql --batch --skip-column-names --unbuffered crashed >"$acks/1" 2>/dev/null &
    local writer=$!
    sleep 2
    "$server" kill
    wait "$writer" || true
    again "$option"
    answered=$(tail -n1 "$acks/1")
    expect "rows are lost that were not synced" yes \
        "$([ "$(ask "select count(*) from w")" -lt "$answered" ] && echo yes || echo no)"
    "$server" kill
}

# power ROUNDS: the binary log is synced too, or a commit is lost with its tail. The second half of the
# rounds has pages that were not synced, some and not others.
power() {
    g++ -std=gnu++17 -O2 -Wall -Wextra plugins/mariadb/power_cut.cc -o "$place/power_cut"
    log+=(--sync-binlog=1)
    rm -rf "$MARIADB_FILES" "$synced"
    mkdir -p "$synced"
    begin_files
    steps
    any "$1"
    seed=$((1 + RANDOM))
    echo "seed $seed"
    any "$1"
    seed=''
    lost
    end_files
    expect "pages that were written and not synced, at a cut" yes \
        "$([ "$unsynced" -gt 0 ] && echo yes || echo no)"
}

scripts/mariadb.sh crashing
case ${1:-all} in
steps) steps ;;
tables) tables "${@:2}" ;;
any) any "${2:-4}" ;;
power) power "${2:-4}" ;;
all) steps; tables; any 4; power 4 ;;
*) echo "no such word: $1; the first lines of $0 say which there are" >&2; exit 1 ;;
esac
printf 'crashes      %6d checks, %d failed\n' "$cases" "$failed"
[ "$failed" = 0 ]
