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
