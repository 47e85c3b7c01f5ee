#!/usr/bin/env bash
# Statements whose conditions an entry of an index can decide in part, over tables of each kind of
# primary key. The server counts how often it asked a condition, and how often that held: both
# engines must be asked the same, but where a text is in it, which ESKER's entries do not give back.
set -euo pipefail

number=0
# table KEY ID [OPTIONS]
table() {
    local name=p$((number += 1)) where index options=${3:-}
    echo "create table $name ($1, c int not null, d date, b varbinary(20), n int, x text," \
        "s varchar(30) character set utf8mb4, key cn (c, n), key nd (n, d desc), key bc (b, c)," \
        "key sc (s, c), key dcn (d desc, c, n)) $options;"
    echo "insert into $name (id, c, d, b, n, x, s)" \
        "select $2, seq % 7, date '2026-01-01' + interval seq % 11 day," \
        "concat(char(seq % 5), repeat('z', seq % 13)), nullif(seq % 9, 4), repeat('text', seq)," \
        "concat('Word ', seq % 6) from seq_1_to_300;"
    # Of each: an index, a range of it, and what its entries decide besides.
    while IFS='|' read -r index where; do
        echo "flush status;"
        echo "select id, c, left(x, 9) from $name force index ($index) where $where;" |
            sed 's/;$/ order by id;/'
        [[ $where == "s like"* ]] || echo "show status like 'Handler_icp%';"
        echo "select count(x), min(x), max(id) from $name force index ($index) where $where;"
        echo "select id, left(x, 5) from $name force index ($index) where $where" \
            "order by c desc, n desc, d, id limit 7;"
        echo "select left(x, 5) from $name force index ($index) where $where and x like '%t%'" \
            "order by id desc limit 2, 5;"
        echo "begin; select count(x) from $name force index ($index) where $where for update;" \
            "rollback;"
    done <<'END'
cn|c between 2 and 4 and n % 3 = 1
cn|c > 3 and n is null
cn|c >= 5 and (n is null or n > 5)
cn|c = 3 and n in (1, 5) and x <> ''
cn|c = 6 and n % 2 = 0
cn|c < 100 and n * 2 = 10
cn|c <= 2 and n = 1000
nd|n is null and day(d) % 2 = 0
nd|n between 1 and 6 and d > '2026-01-05'
nd|n in (1, 3, 5) and dayofmonth(d) in (2, 4)
bc|b > x'01' and c % 3 = 2
bc|b between x'00' and x'03' and length(b) % 4 = 1
sc|s > 'word 2' and c = 4
sc|s = 'WORD 3' and c % 2 = 1
sc|s like 'w%' and s like '%4' and c > 1
sc|s between 'word 1' and 'word 4' and c in (1, 3)
dcn|d >= '2026-01-04' and c % 2 = 0 and n > 3
dcn|d < '2026-01-09' and n is null
END
    # Asked for each row of another table, under an outer join, in a subquery, beside writes.
    echo "select l.id, count(r.x) from $name l join $name r force index (cn) on r.c = l.n and" \
        "r.n % 4 = 1 where l.d = '2026-01-03' group by l.id order by l.id;"
    echo "select l.id, count(r.x) from $name l left join $name r force index (cn) on r.c = l.n" \
        "and r.n % 4 = 1 where l.d = '2026-01-03' group by l.id order by l.id;"
    echo "select count(*) from $name l where exists (select r.x from $name r force index (nd)" \
        "where r.n = l.c and day(r.d) = 5 and r.x > '');"
    echo "select max(x) from $name where c = 3 and n % 2 = 0 or n = 3 and day(d) > 4;"
    echo "begin;" "update $name set n = n + 100 where c = 3;" "delete from $name where n = 2;" \
        "insert into $name (id, c, n, d, x) select $2, 3, 200, '2026-03-01', 'new'" \
        "from seq_1000_to_1003;"
    echo "select c, n, left(x, 5) from $name force index (cn) where c = 3 and n % 2 = 0" \
        "order by id;" "rollback;"
    echo "select c, n, left(x, 5) from $name force index (cn) where c = 3 and n % 2 = 0" \
        "order by id;"
    echo "handler $name open; handler $name read cn = (3) where n % 2 = 0 limit 3;" \
        "handler $name close;"
}

table 'id int primary key' seq
table 'id varchar(40) primary key' "concat('Key ', seq)"
table 'id decimal(10,2), p char(3), primary key (id, p)' 'seq / 4'
table 'id int' seq
table 'id int, unique key u (id)' seq
table 'id int primary key' seq 'partition by hash (id) partitions 3'
