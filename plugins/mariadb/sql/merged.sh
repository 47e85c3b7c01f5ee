#!/usr/bin/env bash
# Rows that several indexes find together, as a union or an intersection, with primary keys and
# partitions of many kinds: the server merges what each index finds by the places of the rows.
#
#   merged.sh
set -euo pipefail

keys=("id int, primary key (id)" "id int, primary key (id desc)" "id int"
    "id int, s varchar(10) not null, primary key (s, id)"
    "id int, s int not null, primary key (s, id)")
partitions=("" "partition by hash (id) partitions 5"
    "partition by range (id) (partition p values less than (700),
        partition q values less than (2000), partition r values less than maxvalue)")
wheres=("a = 5 or b = 8" "a = 5 and b = 8" "a = 5 and c = 8" "(a = 5 and b = 8) or c = 3"
    "a = 1 or b = 2 or c = 3" "a < 2 or b = 1" "a = 5 or b = 8 or id < 30" "a = 5 and id < 3000"
    "a in (1, 2) and b = 3 and c = 4" "a = 4 and b = 4 and id > 100")

echo "set optimizer_switch = 'index_merge_sort_intersection=on';"
for key in "${keys[@]}"; do
    for cut in "${partitions[@]}"; do
        more="" names=""
        [[ $key != *" s "* ]] || more=", mod(seq * 7, 1000)" names=", s"
        cat <<SQL
create or replace table m (a int, b int, c int, d int default 0, pad varchar(300), $key,
    key (a), key (b), key (c)) $cut;
insert into m (a, b, c, pad, id$names) select mod(seq * 7919, 61), mod(seq * 104729, 59),
    mod(seq * 1299709, 41), repeat('x', 300), seq$more from seq_1_to_4000;
analyze table m;
SQL
        for where in "${wheres[@]}"; do
            for columns in id pad "a, b"; do
                echo "select count(*), sum(crc32(concat_ws(',', $columns))) from m where $where;"
            done
            echo "update m set d = d + 1 where $where;"
        done
        echo "select count(*), sum(d), sum(d * id) from m;"
        echo "delete from m where a = 7 or b = 9;"
        echo "delete from m where a = 3 and c = 4;"
        echo "select count(*), sum(d), sum(d * id) from m;"
    done
done
echo "drop table m;"
