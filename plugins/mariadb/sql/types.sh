#!/usr/bin/env bash
# Statements over a table of each type: as value, as key, as unique key, descending, and in ranges.
set -euo pipefail

number=0
# table TYPE PREFIX VALUES…: the prefix is that of a key over a type without a length.
table() {
    local type=$1 prefix=$2 name=t$((number += 1)) at=0 value
    shift 2
    echo "create table $name (id int primary key, v $type, w $type, key (v$prefix)," \
        "key (w$prefix desc, id), key (v$prefix, w$prefix));"
    for value in "$@" null "$@"; do
        echo "insert ignore into $name values ($((at += 1)), $value, $value);"
    done
    echo "update $name set w = v;" "update $name set w = null where id % 3 = 0;"
    echo "select id, hex(v), hex(w) from $name order by id;"
    for value in "$@"; do
        echo "select id from $name where v = $value order by id;"
        echo "select id from $name where w <= $value order by id;"
        echo "select id from $name where v > $value order by id;"
        echo "select id from $name where v < $value and w >= $value order by id;"
        echo "select count(*) from $name where v between $value and $value;"
    done
    echo "select v is null, count(*) from $name group by 1;"
    echo "select hex(min(v)), hex(max(v)), hex(min(w)), hex(max(w)) from $name;"
    echo "delete from $name where v = $1;" "checksum table $name;"
    echo "alter table $name add key (w$prefix), drop key v;" "checksum table $name;"
    [ -n "$prefix" ] && return
    echo "create table k$number (v $type primary key, n int, unique key (n, v desc));"
    for value in "$@" "$@"; do
        echo "insert into k$number values ($value, 1) on duplicate key update n = n + 1;"
    done
    echo "select hex(v), n from k$number order by v;" "select hex(v) from k$number order by v desc;"
    echo "select n from k$number where v = $1;" "update k$number set n = 0 where v >= $1;"
    echo "delete from k$number where n > 2;" "checksum table k$number;"
}

integers=(0 1 -1 127 -128 255 32767 -32768 65535 8388607 -8388608 2147483647 -2147483648 4294967295
    9223372036854775807 -9223372036854775808)
for type in tinyint smallint mediumint int bigint; do
    table "$type" '' "${integers[@]}"
    table "$type unsigned" '' "${integers[@]}"
done
for type in float double 'decimal(5,2)' 'decimal(30,10)' 'decimal(12,0) unsigned'; do
    table "$type" '' 0 1 -1 0.25 -0.25 99.5 -99.5 123456.5 -123456.5
done
table 'bit(1)' '' 0 1
table 'bit(11)' '' 0 1 255 256 2047
table 'bit(64)' '' 0 1 255 18446744073709551615
table year '' 1901 2000 2155
for type in date datetime 'datetime(3)' 'datetime(6)' timestamp 'timestamp(6)'; do
    table "$type" '' "'2000-01-01 00:00:00'" "'1999-12-31 23:59:59.999'" "'2026-11-27 13:50:00.5'" \
        "'1971-02-03 04:05:06'"
done
for type in time 'time(2)' 'time(6)'; do
    table "$type" '' "'00:00:00'" "'-00:00:01.5'" "'838:59:59'" "'-838:59:59'" "'12:34:56.789'"
done
table "enum('x','a','m')" '' "'x'" "'a'" "'m'"
table "set('x','a','m')" '' "''" "'x'" "'x,m'" "'x,a,m'"
table uuid '' "'123e4567-e89b-12d3-a456-426655440000'" "'00000000-0000-0000-0000-000000000001'"
table inet6 '' "'::1'" "'ffff::ffff'" "'192.0.2.1'"
texts=("''" "'a'" "'A'" "'ab'" "'b'" "'ss'" "'Abc'" "'abcdefghij'" "'a  b'" "'zebra'" "'ä'" "'Ü'")
for set in latin1 'utf8mb4 collate utf8mb4_general_ci' 'utf8mb4 collate utf8mb4_bin' \
    'utf8mb4 collate utf8mb4_unicode_520_ci' 'utf8mb4 collate utf8mb4_uca1400_as_cs' \
    'utf8mb4 collate utf8mb4_nopad_bin' 'latin1 collate latin1_german2_ci' utf16; do
    table "char(10) character set $set" '' "${texts[@]}"
    table "varchar(40) character set $set" '' "${texts[@]}"
    table "text character set $set" '(4)' "${texts[@]}"
done
bytes=("''" "x'00'" "x'0000'" "x'ff'" "x'00ff'" "'a'" "'ab'" "x'6100'" "x'ffffffffffff'")
table 'binary(6)' '' "${bytes[@]}"
table 'varbinary(20)' '' "${bytes[@]}"
for type in tinyblob blob mediumblob longblob; do table "$type" '(4)' "${bytes[@]}"; done
table json '(10)' "'{}'" "'[1, 2]'" "'null'"
