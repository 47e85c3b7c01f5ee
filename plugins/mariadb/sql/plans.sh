#!/usr/bin/env bash
# Joins of three and more tables, for each the plan: in which sequence the server reads the tables,
# and by which index, must be the same for both engines, which tell it what to expect.
set -euo pipefail

cat <<'SQL'
set optimizer_switch = 'rowid_filter=off';
create table customers (id int primary key, region int, city int, name varchar(30), key (region),
    key (city, region));
create table orders (id int primary key, customer int, day date, state int, note varchar(90),
    key (customer), key (day), key (state, day));
create table items (id int primary key, order_id int, product int, amount int, text varchar(90),
    key (order_id), key (product, amount));
create table products (id int primary key, kind int, label varchar(20), unique key (label), key (kind));
insert into customers select seq, seq % 20, seq % 300, concat('Name ', seq) from seq_1_to_3000;
insert into orders select seq, 1 + seq * 7 % 3000, date '2026-01-01' + interval seq % 250 day,
    if(seq % 100, 1, seq % 5), repeat('n', seq % 90) from seq_1_to_15000;
insert into items select seq, 1 + seq * 11 % 15000, seq * 13 % 400, seq % 50, repeat('t', seq % 90)
    from seq_1_to_45000;
insert into products select seq - 1, seq % 8, concat('Label ', seq) from seq_1_to_400;
analyze table customers, orders, items, products;
SQL
joined='customers c join orders o on o.customer = c.id join items i on i.order_id = o.id'
all="$joined join products p on p.id = i.product"
while read -r where; do
    echo "explain select count(*), max(i.text), max(c.name), max(o.note) from $joined where $where;"
    echo "explain select c.name, o.day, i.text from $joined where $where order by i.id desc limit 10;"
done <<'END'
c.region = 3
c.id = 17
c.id between 100 and 120
c.city = 40
c.city = 40 and c.region = 0
o.day = '2026-03-01'
o.day between '2026-03-01' and '2026-03-02'
o.state = 3
o.state = 3 and o.day > '2026-08-01'
o.id in (5, 50, 500, 5000)
i.product = 200
i.product = 200 and i.amount = 10
i.id < 50
i.product = 200 and c.region = 4
i.product in (1, 2) and o.state = 3
o.day = '2026-05-05' and c.city = 7
o.day = '2026-05-05' and i.product = 11
i.order_id = 77
i.order_id = 77 and i.product > 100
c.city = 9 and i.product = 9 and o.day = '2026-02-02'
END
while read -r where; do
    echo "explain select count(*), max(i.text), max(c.name), max(p.label) from $all where $where;"
done <<'END'
p.label = 'Label 12'
p.label = 'Label 12' and c.region = 3
p.kind = 3 and c.city = 12
p.kind = 3 and o.day = '2026-02-10'
c.id = 1200
o.state = 2
END
