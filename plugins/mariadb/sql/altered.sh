#!/usr/bin/env bash
# Random changes of two tables, one of them of partitions, between random writes; the same ones for
# the same seed.
#
#   altered.sh [STATEMENTS] [SEED]
#
# What must be unique has the primary key in it, so that of a key that comes twice there is one.
set -euo pipefail

cat <<'SQL'
create table r (id int primary key, a int, b varchar(20) character set utf8mb4, key k0 (a));
create table p (id int primary key, a int, b varchar(20) character set utf8mb4, key k0 (a))
    partition by hash (id) partitions 3;
SQL
awk -v statements="${1:-1500}" -v seed="${2:-29}" '
function pick(count) { return int(rand() * count) }
function column() { return pick(3) || !columns ? (pick(2) ? "a" : "b") : "c" (1 + pick(columns)) }
function index_name() { return "k" pick(9) }
function parts(   made) {
    made = column()
    if (pick(2)) made = made (pick(2) ? " desc" : "") ", id"
    return "(" made ")"
}
function kind_of(   kind) {
    kind = pick(10)
    if (kind == 0) return "int"
    if (kind == 1) return "int not null default " pick(100)
    if (kind == 2) return "varchar(30) default \047text " pick(100) "\047"
    if (kind == 3) return "varchar(300) character set utf8mb4 not null"
    if (kind == 4) return "decimal(9,3) default " pick(1000) / 7
    if (kind == 5) return "datetime(2) default \0472026-05-0" 1 + pick(9) " 01:02:03.04\047"
    if (kind == 6) return "enum(\047x\047, \047y\047) not null"
    if (kind == 7) return "bit(9) default " pick(500)
    if (kind == 8) return "char(9) default \047c " pick(9) "\047"
    return "bigint unsigned not null default 18446744073709551615"
}
function change(   kind) {
    kind = pick(16)
    if (kind < 4) {
        columns++
        return "add column c" columns " " kind_of() (pick(9) ? "" : pick(2) ? " first" : " after a")
    }
    if (kind < 8) return "add key " index_name() " " parts()
    if (kind == 8) return "add unique " index_name() " (" column() ", id)"
    if (kind < 12) return "drop key " index_name()
    if (kind == 12) return "rename index " index_name() " to " index_name()
    if (kind == 13 && columns) return "alter c" (1 + pick(columns)) " set default 7"
    if (kind == 14 && columns && !pick(2)) return "drop column c" (1 + pick(columns))
    if (kind == 15 && columns)
        return "rename column c" (1 + pick(columns)) " to c" (1 + pick(columns))
    return "comment \047said " pick(9) "\047"
}
BEGIN {
    srand(seed)
    for (at = 0; at < statements; at++) {
        table = pick(2) ? "r" : "p"
        kind = pick(10)
        if (kind < 3) {
            print "alter table " table " " change() (pick(3) ? "" : ", " change()) ";"
        } else if (kind < 5) {
            print "insert into " table " (id, a, b) values (" pick(500) ", " pick(50) ", \047b " \
                pick(50) "\047), (" 500 + pick(500) ", null, null);"
        } else if (kind == 5) {
            print "replace into " table " (id, a) values (" pick(500) ", " pick(50) ");"
        } else if (kind == 6) {
            print "update " table " set " column() " = " pick(5) " where a = " pick(50) ";"
        } else if (kind == 7) {
            print "delete from " table " where a = " pick(50) ";"
        } else if (kind == 8) {
            print "select count(*), min(id), max(id) from " table " force index (" index_name() \
                ") where " column() " >= \0473\047;"
        } else print "select * from " table " where id between " pick(500) " and " pick(900) " order by id;"
        if (at % 25 == 24) print "checksum table r, p;"
    }
    print "check table r, p; select * from r order by id; select * from p order by id;"
}' | sed 's/; /;\n/g'
