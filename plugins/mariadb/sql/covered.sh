#!/usr/bin/env bash
# Statements that an index alone can answer, over tables of each kind of primary key: by range, in
# both directions, sorted, grouped, joined, by two indexes at once, and beside writes.
set -euo pipefail

number=0
# table COLUMNS KEY: c is an integer, d a date, b bytes, n an integer that may be NULL.
table() {
    local name=t$((number += 1)) where
    echo "create table $name ($1, c int not null, d date, b varbinary(20), n int, x text, $2" \
        "key (c), key (n, c), key (d desc, n), key (b, c), unique key u (b, n${5:+, id}), key (n)) ${5:-};"
    echo "insert into $name (${3:-id}, c, d, b, n, x)" \
        "select ${4:-seq}, seq % 7, date '2026-01-01' + interval seq % 11 day," \
        "concat(char(seq % 5), char(seq % 3), repeat('z', seq % 13), seq), nullif(seq % 9, 4)," \
        "repeat('text', seq) from seq_1_to_200;"
    for where in "c = 3" "c between 2 and 4" "n is null" "n = 2 and c > 3" "d < '2026-01-05'" \
        "d >= '2026-01-07' and n > 2" "b > x'0100' and b < x'0300'" "n in (1, 3, 5)" \
        "c = 1 and n = 2" "c = 2 or n = 3" "b like concat(x'01', '%')"; do
        echo "select c, n from $name where $where order by c, n;"
        echo "select n, hex(b) from $name where $where order by n desc, b;"
        echo "select d, n from $name where $where order by d, n limit 7;"
        echo "select count(*), sum(n), min(c), max(hex(b)) from $name where $where;"
        echo "select ${3:-id}, c from $name where $where order by c desc, ${3:-id} limit 9;"
        echo "select ${3:-id} from $name where $where order by ${3:-id} desc limit 5, 5;"
        echo "select ${3:-id}, left(x, 9) from $name where $where order by n, c, ${3:-id} limit 4;"
    done
    echo "select c, count(*), min(n), max(n) from $name group by c order by c;"
    echo "select distinct n from $name order by n;"
    echo "select n, min(c) from $name group by n order by n;"
    echo "select max(d), min(d), max(b), min(n) from $name;"
    echo "select l.c, r.n from $name l join $name r on l.c = r.n where l.n = 1 order by 1, 2;"
    echo "select c from $name where c in (select n from $name where n > 3) order by c;"
    echo "begin;" "update $name set n = n + 100 where c = 3;" "delete from $name where n = 2;"
    echo "select n, c from $name where n > 50 order by n, c;"
    echo "select count(*) from $name where n = 2;" "rollback;"
    echo "update $name set n = n + 1 where d > '2026-01-06';" "delete from $name where c = 5;"
    echo "select n, c from $name order by n, c;" "select hex(b), n from $name order by b, n;"
}

table 'id int primary key' ''
table 'id varchar(40) primary key' '' id "concat('Key ', seq)"
table 'id varbinary(40) primary key' '' id "concat(char(seq % 3), seq)"
table 'id decimal(10,2), p char(3)' "primary key (id, p)," 'id, p' "seq / 3, seq"
table 'id int' ''
table 'id int primary key' '' id seq 'partition by hash (id) partitions 3'

# kind TYPE VALUES…: an index over one of that type, alone and among others, and as a primary key.
kind() {
    local type=$1 name=k$((number += 1)) at=0 value
    shift
    echo "create table $name (id int primary key, v $type, n int, x text, key (v), key (v desc, n)," \
        "key (n, v), unique key u (v, id));"
    echo "create table p$name (v $type not null, n int, x text, primary key (v), key (n));"
    for value in "$@" null "$@"; do
        echo "insert into $name values ($((at += 1)), $value, $at % 3, repeat('text', $at));"
        echo "insert ignore into p$name select v, n, x from $name where id = $at and v is not null;"
    done
    for value in "$@"; do
        echo "select v, n from $name where v >= $value order by v, n;"
        echo "select v, id from $name where v = $value order by id;"
        echo "select n, v from $name where n < 2 and v <> $value order by n, v desc;"
        echo "select v, n from $name force index (v_2) where v <= $value and concat('is ', v) <> 'is 1' order by v desc, n, v;"
        echo "select n, v from p$name where n = 1 and v <= $value order by v;"
    done
    echo "select v, count(*), min(n) from $name group by v order by v;"
    echo "select distinct n, v from $name order by n, v;"
    echo "select l.v, r.id from $name l join $name r on l.v = r.v and r.id < 5 order by 1, 2;"
    echo "select v from $name where v in ($1, $2) order by v;"
    echo "select concat('[', v, ']') from $name where v is not null order by v, id;"
    echo "update $name set v = $1 where n = 2;" "delete from $name where v = $2;"
    echo "select v, n from $name order by v, n;" "checksum table $name, p$name;"
}

for type in float double; do kind "$type" 0e0 -0e0 1 -1 0.1 -123456.5 1e30 1e-30; done
for type in 'bit(1)' 'bit(9)' 'bit(64)'; do kind "$type" 0 1; done
kind 'bit(20)' 0 1 255 256 65536 1048575
texts=("'a'" "'A'" "'a b'" "''" "'ab'" "'ä'" "'abcdefghij'")
tabbed="'a\\tb'"
for form in 'latin1 collate latin1_bin' 'utf8mb4 collate utf8mb4_bin' 'utf16 collate utf16_bin'; do
    kind "char(10) character set $form" "${texts[@]}" "$tabbed"
    kind "varchar(40) character set $form" "${texts[@]}" "$tabbed" "'ab '"
done
# Of a CHAR without padding the server itself compares what is less than a space in two ways.
for form in 'utf8mb4 collate utf8mb4_nopad_bin' 'latin1 collate latin1_nopad_bin'; do
    kind "char(10) character set $form" "${texts[@]}"
    kind "varchar(40) character set $form" "${texts[@]}" "$tabbed" "'ab '"
done
kind uuid "'123e4567-e89b-12d3-a456-426655440000'" "'00000000-0000-0000-0000-000000000001'"
kind inet6 "'::1'" "'ffff::ffff'" "'192.0.2.1'"
