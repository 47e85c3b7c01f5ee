#!/usr/bin/env bash
# Random statements over two tables, the same ones for the same seed.
#
#   random.sh [STATEMENTS] [SEED]
#
# Of no statement does the outcome depend on the order in which an engine finds rows: updates of
# several rows leave what is unique alone, and what is read is put in order.
set -euo pipefail

cat <<'SQL'
create table r (id int primary key, a int, b varchar(20) character set utf8mb4, c decimal(8,2),
    d datetime(3), e text, f int not null, unique key (a, b), key (b desc, f), key (c, d),
    key (e(5)), key (f));
create table q (f int, g varchar(30), h bigint unsigned, key (g), key (h desc, f));
SQL
awk -v statements="${1:-3000}" -v seed="${2:-29}" '
function pick(count) { return int(rand() * count) }
function text(   made, at) {
    made = ""
    for (at = pick(6); at >= 0; at--) made = made substr("aAbBcC zZ19", 1 + pick(11), 1)
    return "\047" made "\047"
}
function some(value) { return pick(8) ? value : "null" }
function row(id) {
    return "(" id ", " some(pick(60)) ", " some(text()) ", " some(pick(2000) / 100 - 5) ", " \
        some("\0472026-0" 1 + pick(9) "-1" pick(10) " 10:00:00." pick(1000) "\047") ", " \
        some("repeat(" text() ", " 1 + pick(40) ")") ", " pick(20) ")"
}
function where(   kind) {
    kind = pick(9)
    if (kind == 0) return "id = " pick(400)
    if (kind == 1) return "id between " pick(400) " and " pick(400)
    if (kind == 2) return "f = " pick(20)
    if (kind == 3) return "f in (" pick(20) ", " pick(20) ") and b >= " text()
    if (kind == 4) return "b = " text()
    if (kind == 5) return "c < " pick(20) " and d is not null"
    if (kind == 6) return "a = " pick(60) " and b > " text()
    if (kind == 7) return "e like \047" substr("abcz", 1 + pick(4), 1) "%\047"
    return "b is null or a = " pick(60)
}
function change() {
    if (pick(3) == 0) return "c = c + 1, d = null"
    if (pick(2)) return "f = f + 1, e = concat(ifnull(e, \047\047), " text() ")"
    return "c = id, e = " some(text())
}
BEGIN {
    srand(seed)
    for (at = 0; at < statements; at++) {
        kind = pick(20)
        if (kind < 5) print "insert into r values " row(pick(400)) ", " row(400 + pick(400)) ";"
        else if (kind == 5)
            print "insert ignore into r values " row(pick(400)) ", " row(pick(400)) ";"
        else if (kind == 6) print "replace into r values " row(pick(400)) ";"
        else if (kind == 7)
            print "insert into r values " row(pick(400)) " on duplicate key update f = f + 1;"
        else if (kind == 8) print "update r set " change() " where " where() ";"
        else if (kind == 9)
            print "update r set a = " pick(60) ", b = " text() " where id = " pick(400) ";"
        else if (kind == 10) print "update r set id = " pick(800) " where id = " pick(400) ";"
        else if (kind == 11 && !pick(3))
            print "delete from r where " where() " order by id limit " 1 + pick(5) ";"
        else if (kind == 12)
            print "insert into q values (" some(pick(9)) ", " some(text()) ", " some(pick(50)) \
                "), (1, " text() ", 2);"
        else if (kind == 13)
            print "update q set h = h + 1 where g " substr("<=>", 1 + pick(3), 1) " " text() ";"
        else if (kind == 14 && !pick(3)) print "delete from q where h = " pick(50) ";"
        else if (kind == 15) print "select * from r where " where() " order by id;"
        else if (kind == 16)
            print "select b, f, count(*) from r where " where() \
                " group by hex(b), f order by hex(b), f;"
        else if (kind == 17)
            print "select max(lower(b)), min(c), max(f), count(distinct a) from r where " where() ";"
        else if (kind == 18)
            print "select r.id, q.h from r join q on q.f = r.f where " where() \
                " order by 1, 2 limit 9;"
        else if (is_open) {
            turn = pick(4)
            if (turn == 0) { print "commit;"; is_open = 0 }
            if (turn == 1) { print "rollback;"; is_open = 0 }
            if (turn == 2) print "savepoint s;"
            if (turn == 3) print "rollback to s;"
        } else { print "begin;"; is_open = 1 }
        if (at % 100 == 99)
            print "checksum table r, q; select count(*), sum(f) from r;" \
                " select count(*), sum(h) from q;"
    }
    print "commit; select * from r order by id; select * from q order by f, hex(g), h;"
    print "check table r, q;"
}' | sed 's/; /;\n/g'
