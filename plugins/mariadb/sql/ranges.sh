#!/usr/bin/env bash
# Statements that read many ranges: IN lists by each kind of key, ranges and keys among them, joins
# that ask for many keys at once; beside writes, with limits, with large rows, and by an index alone.
set -euo pipefail

number=0
# table KEY ID [OPTIONS]: p is the primary key's first column or a number that is as good.
table() {
    local name=m$((number += 1)) where options=${3:-}
    echo "create table $name ($1, p int not null, a int, b varchar(20) character set utf8mb4," \
        "c varbinary(9), u int, x text, y longblob, key ka (a), key kb (b, a), key kc (c desc, p)," \
        "unique key ku (u${4:-}), unique key kbu (b, u${4:-}), key kp (p)) $options;"
    echo "insert into $name (id, p, a, b, c, u, x, y)" \
        "select $2, seq, nullif(seq % 23, 7), concat('Word ', seq % 40)," \
        "char(seq % 9, seq % 4), nullif(seq * 3, 300), repeat('text', seq % 50)," \
        "if(seq % 50, seq, repeat('large', 40000)) from seq_1_to_700;"
    while read -r where; do
        echo "select p, a, left(x, 5), length(y) from $name where $where;" | sed 's/;$/ order by p;/'
        echo "select count(*), sum(length(x)), sum(crc32(y)) from $name where $where;"
        echo "select p from $name where $where order by p desc limit 3;"
        echo "select a, u from $name where $where order by a, u limit 9;"
    done <<END
id in ($(list "$2" 1 3 5 9 200 200 7 699 700 701 3 0))
id in ($(list "$2" $(seq 2 3 650)))
id in ($(list "$2" 5 6 7)) or id > $(list "$2" 690)
id in ($(list "$2" 5 6 7 8)) and a in (5, 6)
u in (3, 6, 9, 12, 14, 1200, 33, 2100, 2103)
u in ($(seq -s, 3 3 600))
u in (3, 30) or u is null or u between 60 and 90
u is null or u = 9
a in (1, 2, 3, 22)
a in (1, 5) or a is null or a > 20
a between 3 and 19
a < 2 or a = 9 or a > 21
b in ('word 1', 'WORD 2', 'Word 39', 'none')
b in ('word 3', 'word 5') and a in (1, 3, 5, 9)
b in ('word 3', 'word 5') and u in (9, 15, 129, 135, 489)
b = 'word 3' and a > 3 or b = 'word 9' and a < 9
c in (x'0101', x'0202', x'05')
c in (x'0101', x'0202') and p in (1, 37, 74, 109, 110) or c > x'08'
p in (1, 2, 3) or a = 5 and u = 84
END
    for where in "id in ($(list "$2" 9 8 400 3 4))" "u in (9, 900, 3, 1200)" "a in (5, 3)" \
        "u in (9, 10, 12)" "a between 2 and 5"; do
        # In the order of the index, without being asked.
        echo "select p, left(x, 5) from $name force index (ku, ka) where $where limit 40;"
        echo "select p, left(x, 5) from $name where $where limit 1;" | sed 's/ limit/ order by p limit/'
    done
    for where in "u in (9, 12, 1200, 3, 4)" "u in (9, 12) or u is null" "u > 1800 and u % 2 = 0"; do
        echo "select u from $name force index (ku) where $where;"
    done
    echo "begin;" "update $name set a = 99, x = 'changed' where u in (9, 12, 15, 18, 2000);" \
        "delete from $name where u in (21, 24, 27);" \
        "insert into $name (id, p, a, u, x) select $2, seq, 99, 9 * seq, 'new' from seq_1001_to_1003;" \
        "select p, a, x from $name where u in (9, 12, 15, 21, 24, 9009, 9018) order by p;" \
        "select p, x from $name where a in (99, 98) order by p;" \
        "select p, x from $name where id in ($(list "$2" 3 4 7 8 1001 1002)) order by p for update;" \
        "select p, x from $name where u in (3, 9, 12, 21) order by p lock in share mode;" \
        "rollback;"
    echo "insert into $name (id, p, a, u) select -1, -1, a, -u from $name" \
        "where id in ($(list "$2" 3)) and u in (9, 10);" "delete from $name where p in (-1, -2);"
    local level join
    for level in 2 6 8; do
        echo "set optimizer_switch = 'mrr=on,mrr_cost_based=off', join_cache_level = $level;"
        for join in "r.id = $2" "r.u = l.p" "r.a = l.a" "r.b = l.b and r.a = l.p" \
            "r.b = l.b and r.u = l.u" "r.c = l.c"; do
            join=${join//seq/(l.p + 1)}
            echo "select l.p, r.p, left(r.x, 9) from $name l join $name r on $join" \
                "where l.a in (1, 2) order by 1, 2 limit 60;"
            echo "select count(*), sum(r.p), sum(crc32(r.y)) from $name l left join $name r on" \
                "$join and r.a + l.p > 30 where l.p < 300;"
            echo "select count(*), sum(l.p) from $name l where l.p < 100 and exists" \
                "(select r.x from $name r where $join and r.x <> '' and r.a <> l.p);"
            echo "select count(*) from $name l straight_join $name r on $join and" \
                "(r.a + l.p) % 3 = 1 where l.p between 20 and 400 and r.x > '';"
        done
        # What an entry decides together with the tables before it.
        echo "select count(*), sum(r.p) from $name l straight_join $name r force index (kb)" \
            "on r.b = l.b and (r.a + l.p) % 3 = 1 where l.p between 20 and 400 and r.x > '';"
    done
    echo "set optimizer_switch = default, join_cache_level = default;"
}
# list ID NUMBER…: the values of the primary key of those rows.
list() {
    local id=$1 number out=()
    shift
    for number in "$@"; do out+=("${id//seq/$number}"); done
    (IFS=,; echo "${out[*]}")
}

table 'id int primary key' seq
table 'id varchar(40) primary key' "concat('Key ', seq)"
table 'id decimal(10,2), primary key (id, p)' 'seq / 4'
table 'id int' seq
table 'id int, key ki (id desc)' seq
table 'id int primary key' seq 'partition by hash (id) partitions 3' ', id'
