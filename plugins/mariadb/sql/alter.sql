-- ALTER TABLE: what the engine does without a copy, and what it does by one. After each the checksum
-- of the whole table is asked for.

-- Columns behind the others, with a default of each kind; then the default is another, and rows of
-- before keep what they have.
create table t (a int primary key, b int, c varchar(20), key (b));
insert into t select seq, seq % 7, concat('row ', seq) from seq_1_to_300;
alter table t add column d int not null default 5;
checksum table t;
insert into t (a, b) values (301, 1);
alter table t alter column d set default 7;
insert into t (a, b) values (302, 1);
select d, count(*) from t group by d;
alter table t alter column d drop default;
insert into t (a, b) values (303, 1);
insert into t (a, b, d) values (303, 1, 8);
select d, count(*) from t group by d;
alter table t add column e varchar(30) default 'a text', add column f decimal(10, 3) default 1.5,
    add column g datetime(3) default '2026-01-02 03:04:05.678', add column h enum('x', 'y') not null,
    add column i set('p', 'q') default 'p,q', add column j bit(11) default b'101',
    add column k binary(6) default 'bin', add column l char(7) not null, add column m double default 2.5,
    add column n time(2) default '-01:02:03.45', add column o year default 2026,
    add column p bigint unsigned default 18446744073709551615, add column q text, add column r blob,
    add column s varchar(300) character set utf8mb4 default 'größer', add column u uuid,
    add column v int;
checksum table t;
select a, b, c, d, e, f, g, h, i, j + 0, hex(k), concat('[', l, ']'), m, n, o, p, q, r, s, u, v
    from t where a in (1, 150, 301, 302, 303) order by a;
update t set e = 'new', q = repeat('long', 100) where a between 10 and 20;
update t set d = 99 where a = 30;
delete from t where a between 40 and 50;
replace into t (a, b, c, d) values (60, 1, 'replaced', 1);
insert into t (a, b, d) values (61, 1, 1) on duplicate key update c = concat(c, ' again'), v = 12;
checksum table t;
select count(*), sum(d), min(e), max(e), sum(f), sum(v) from t;
alter table t change e ee varchar(30) default 'another', rename column v to w;
checksum table t;
insert into t (a, b, d) values (400, 1, 1);
select a, ee, w from t where a in (1, 400) order by a;
alter table t modify v2 int;
alter table t add column w int;
alter table t drop column f, drop column g;
checksum table t;
alter table t add column x int default 3 first;
alter table t add column y int default 4 after b;
checksum table t;
select x, y, count(*) from t group by x, y;

-- Indexes.
alter table t add key e1 (ee, d), add key e2 (d desc, c), add key e3 (q(10)), add key e4 (y, x);
select count(*) from t force index (e1) where ee = 'a text';
select a from t force index (e2) where d = 5 order by c limit 3;
select a from t force index (e3) where q like 'long%' order by a;
select count(*) from t force index (e4) where y = 4 and x = 3;
alter table t add unique u1 (c);
select a, c from t where c is null order by a;
alter table t add unique u2 (a, b);
insert into t (a, b, c, d) values (1000, 1, 'row 2', 1);
alter table t rename index u1 to u3, rename index e1 to e5;
insert into t (a, b, c, d) values (1000, 1, 'row 2', 1);
select count(*) from t force index (e5) where ee = 'a text';
alter table t drop key e5, add key e5 (d);
select count(*) from t force index (e5) where d = 5;
alter table t drop key e2, drop key e3, drop key u3, drop key e9;
select count(*) from t force index (e2);
alter table t drop key e2, drop key e3, drop key u3;
insert into t (a, b, c, d) values (1000, 1, 'row 2', 1);
checksum table t;
create index e6 on t (c(3));
drop index e6 on t;
create unique index u4 on t (c);
update t set c = 'another row 2' where a = 1000;
create unique index u4 on t (c);
alter table t add key (no_such_column);
alter table t alter index u4 ignored;
alter table t comment = 'said', add constraint c1 check (a > 0);
alter table t drop constraint c1;
select ordinal_position, column_name, column_type, is_nullable, column_default from information_schema.columns
    where table_schema = 'tables_of' and table_name = 't' order by 1;
select index_name, non_unique, seq_in_index, column_name, sub_part, collation, ignored
    from information_schema.statistics where table_schema = 'tables_of' and table_name = 't' order by 1, 3;
alter table t rename to t2, add key e7 (w), add column z int not null default 1;
select count(*), sum(z) from t2 force index (e7) where w is null;
checksum table t2;
alter table t2 force;
checksum table t2;
truncate t2;
insert into t2 (a, b, d) values (1, 2, 3);
select a, b, d, z, ee from t2;
drop table t2;

-- Unique keys, and what is equal by the collation; NULL never is.
create table s (a int primary key, b varchar(20) collate utf8mb4_general_ci, c int, d int);
insert into s values (1, 'a', 1, null), (2, 'B', 2, null), (3, 'a', 3, 1), (4, null, 4, 1);
alter table s add unique (b);
alter table s add unique (c, d), add unique (b);
select * from s order by a;
update s set b = 'c' where a = 3;
alter table s add unique (b), add unique (c, d);
insert into s values (5, 'C', 9, 9);
insert into s values (5, 'x', 3, 1);
insert into s values (5, null, 1, null);
alter table s add unique (d);
alter ignore table s drop key b, add key b2 (b);
select * from s force index (b2) order by b, a;
drop table s;

-- A table without a primary key; one comes, and goes.
create table n (a int, b int);
insert into n select seq % 10, seq from seq_1_to_100;
alter table n add key (a), add column c int default 2;
select count(*), sum(c) from n force index (a) where a = 4;
checksum table n;
alter table n add unique (b);
insert into n (b) values (5);
alter table n add primary key (b);
alter table n modify c int not null;
checksum table n;
alter table n drop primary key, add key (c, b);
select count(*) from n force index (c) where c = 2;
checksum table n;
create table n2 (a int, b int not null);
insert into n2 values (1, 1), (2, 2);
alter table n2 add unique (b);
insert into n2 values (3, 2);
select * from n2 order by b;
alter table n2 drop key b;
insert into n2 values (3, 2);
select * from n2 order by a;
drop table n, n2;

-- Counters.
create table i (a int auto_increment primary key, b int);
insert into i (b) values (1), (2), (3);
alter table i auto_increment = 100;
insert into i (b) values (4);
alter table i auto_increment = 50, add column c int default 1;
insert into i (b) values (5);
select * from i;
alter table i add key (b), drop column c;
insert into i (b) values (6);
select max(a) from i;
alter table i add column d int, auto_increment = 200;
insert into i (b) values (7);
select max(a) from i;
drop table i;

-- Virtual and stored columns; columns that may be NULL from now on; longer texts.
create table v (a int primary key, b int not null, c varchar(10), key (b));
insert into v values (1, 2, 'x'), (3, 4, 'y');
alter table v add column d int as (a + b) virtual;
alter table v add column e int as (a * 2) stored;
alter table v add column f int default 6;
select * from v;
alter table v drop column d;
alter table v modify b int null;
insert into v (a, b) values (5, null);
select a from v force index (b) where b is null;
alter table v modify c varchar(20), modify f int not null default 3;
alter table v modify c varchar(200) not null;
alter table v modify c varchar(400);
update v set c = repeat('z', 300) where a = 1;
select a, b, length(c), e, f from v order by a;
drop table v;

-- Partitions.
create table p (a int primary key, b int, c varchar(20)) partition by range (a)
    (partition p0 values less than (100), partition p1 values less than (200),
     partition p2 values less than maxvalue);
insert into p select seq, seq % 9, concat('p ', seq) from seq_1_to_300;
alter table p add key (b), add column d int default 4;
select count(*), sum(d) from p force index (b) where b = 3;
checksum table p;
insert into p (a, b) values (500, 3);
alter table p alter d set default 5;
insert into p (a, b) values (501, 3);
select d, count(*) from p group by d;
alter table p add unique (c);
alter table p add unique (c, a);
alter table p drop key b, rename index c to k;
select count(*) from p where c = 'p 7';
alter table p reorganize partition p2 into (partition p2 values less than (250),
    partition p3 values less than maxvalue);
select d, count(*) from p group by d;
alter table p truncate partition p0;
insert into p (a, b) values (5, 5);
select count(*), sum(d) from p;
create table q (a int primary key, b int, c varchar(20), d int default 5, unique k (c, a));
insert into q (a, b, c) values (120, 1, 'q 120'), (121, 2, 'q 121');
alter table p exchange partition p1 with table q;
select count(*), sum(d), min(a), max(a) from p;
select count(*), sum(d), min(a), max(a) from q;
checksum table p, q;
alter table q add column e int;
alter table p exchange partition p1 with table q;
alter table q drop column e;
insert into q (a) values (7);
alter table p exchange partition p1 with table q;
delete from q where a = 7;
alter table p exchange partition p1 with table q;
select count(*), sum(d) from p;
select count(*), sum(d) from q;
-- Keys of the same names in another order.
create table r (a int primary key, b int, c int, key x (b), key y (c)) partition by hash (a) partitions 2;
create table w (a int primary key, b int, c int, key y (c), key x (b));
insert into r select seq, seq % 5, seq % 3 from seq_1_to_20;
insert into w select seq * 2, seq % 3, seq % 5 from seq_1_to_20;
alter table r exchange partition p0 with table w;
select count(*) from r force index (x) where b = 1;
select count(*) from r force index (y) where c = 1;
select count(*) from w force index (x) where b = 1;
select count(*) from w force index (y) where c = 1;
checksum table r, w;
alter table r exchange partition p9 with table w;
drop table p, q, r, w;

-- Columns that go: what they had is passed over in the rows of before.
create table d (a int primary key, b int, c varchar(20), e text, f decimal(10, 3), g bit(11),
    h char(7) character set utf8mb4, i varbinary(300), j datetime(3), k uuid, l double,
    m enum('x', 'y'), n blob, o int not null default 7, q varchar(200) compressed, s char(200) character set utf8mb4,
    key (b), key bo (b, o), unique uo (o, a));
insert into d (a, b, c, e, f, g, h, i, j, k, l, m, n, q, s) select seq, seq % 7, concat('row ', seq),
    repeat('t', seq), seq / 3, seq % 2048, concat('c', seq % 10), repeat('b', seq % 300),
    '2026-01-01 01:02:03.456', '123e4567-e89b-12d3-a456-426655440000', seq / 7, 1 + seq % 2,
    nullif(repeat('n', seq % 5), ''), repeat('q', seq % 190), concat('s', seq) from seq_1_to_400;
alter table d drop column c, algorithm=instant;
checksum table d;
insert into d (a, b, e) values (500, 1, 'after c');
update d set f = 9.5, n = 'new' where a between 100 and 110;
alter table d drop column e, drop column k, algorithm=instant;
checksum table d;
select a, b, f, g + 0, h, length(i), j, l, m, n, o, length(q), s from d where a in (1, 105, 400, 500) order by a;
alter table d add column c int default 3, algorithm=instant;
insert into d (a, b) values (501, 2);
checksum table d;
alter table d drop column g, add column p varchar(5) default 'p', algorithm=instant;
select c, p, count(*) from d group by c, p;
checksum table d;
alter table d drop column c, drop column i, drop column q, algorithm=instant;
insert into d (a, b, p) values (502, 2, 'x');
checksum table d;
alter table d add column c text, drop column l, drop column m;
alter table d drop column n, drop column s, drop column h;
update d set c = repeat('long', 100) where a = 7;
checksum table d;
select count(*) from d force index (bo) where b = 3 and o = 7;
alter table d drop column o;
select count(*) from d force index (bo) where b = 3;
insert into d (a, b) values (7, 1);
alter table d drop column b;
alter table d drop column a;
checksum table d;
select * from d order by f, p limit 5;
alter table d force;
checksum table d;
drop table d;
create table d (a int, b int not null, c varchar(10));
insert into d values (1, 2, 'x'), (3, 4, 'y');
alter table d drop column b, algorithm=instant;
insert into d values (5, 'z');
select * from d order by a;
truncate d;
insert into d values (6, 'w');
alter table d add column b int default 9, algorithm=instant;
insert into d values (7, 'v', 1);
select * from d order by a;
alter table d drop column c, algorithm=instant, drop column b;
select * from d order by a;
drop table d;
-- Into one that has been emptied, files are written.
create table d (a int primary key, b int, c varchar(300));
insert into d values (1, 2, 'x');
alter table d drop column b, algorithm=instant;
delete from d;
insert into d select seq, repeat('load', 60) from seq_1_to_30000;
checksum table d;
alter table d drop column c, add key (a);
select count(*), sum(a) from d;
drop table d;
create table d (a int primary key, b int, c int) partition by hash (a) partitions 3;
insert into d select seq, seq, seq * 2 from seq_1_to_30;
alter table d drop column b, algorithm=instant;
insert into d values (31, 62);
create table d2 (a int primary key, c int);
insert into d2 values (33, 66);
alter table d exchange partition p0 with table d2;
select count(*), sum(a), sum(c) from d;
select count(*), sum(a), sum(c) from d2;
alter table d reorganize partition p0, p1, p2 into (partition p0, partition p1, partition p2);
checksum table d, d2;
drop table d, d2;

-- Longer texts that are in keys.
create table w (a varchar(10) primary key, b varchar(20) character set utf8mb4, c varchar(40),
    d varchar(300), key (b), unique (c), key (c(5), b desc), key (d(20)), key (d));
insert into w select concat('a', seq), concat('b', seq % 9), concat('c', seq), concat('d', seq % 5) from seq_1_to_200;
alter table w modify a varchar(30), algorithm=nocopy;
insert into w values ('a2 and a long end', 'b', 'c', 'd'), ('a2 and a long other', 'b2', null, 'd1');
insert into w values ('A2 AND A LONG END', 'b', 'c0', 'd');
alter table w modify b varchar(60) character set utf8mb4, algorithm=nocopy;
alter table w modify c varchar(200), modify d varchar(500), algorithm=nocopy;
insert into w values ('z', concat('b2', repeat('x', 50)), concat('c', repeat('y', 150)), repeat('d', 400));
insert into w values ('y', 'b', concat('c', repeat('Y', 150)), 'd');
select a from w where a like 'a2%' order by a;
select count(*) from w force index (b) where b >= 'b2' and b < 'b4';
select a from w force index (c) where c like 'cy%' order by c;
select count(*) from w force index (c_2) where c like 'c1%' and b > 'b3';
select count(*), max(length(d)) from w force index (d) where d like 'd%';
select a from w force index (d_2) where d > 'd4' order by d;
alter table w modify b varchar(80) character set utf8mb4;
alter table w modify a varchar(40) not null, drop column b;
checksum table w;
select count(*) from w force index (c_2) where c like 'c1%';
drop table w;

-- Then an index may have another part of the primary key than before.
create table x (a int, b varchar(10) not null primary key, c int, key k (a, b), unique u (c, b));
insert into x values (1, 'x', 1), (2, 'y', 2), (1, 'z', 3);
alter table x modify b varchar(20) not null, drop key k, add key k (a, b(10));
check table x;
select b from x force index (k) where a = 1 order by b;
alter table x modify b varchar(30) not null, drop key u, add unique u (c, b(20));
update x set a = 3 where b = 'z';
delete from x where b = 'x';
check table x;
select a, b from x force index (k) where a > 0 order by a, b;
select a, b from x force index (u) where c > 0 order by c;
drop table x;
create table x (a int, b varchar(10) primary key, key k (a, b), key l (a));
insert into x values (1, 'x'), (2, 'y');
alter table x modify b varchar(20) not null, drop primary key, add primary key (b(10));
check table x;
select * from x force index (k) where a = 1;
select * from x force index (l) where a = 2;
update x set a = 5;
check table x;
drop table x;

-- Of some the server itself knows a part of the primary key less, or none, once a text is longer.
create table y (a varchar(500) character set utf8mb4, b varchar(100) character set utf8mb4, c int,
    d varchar(20) character set latin1, primary key (c, b, d), key k (a), key ab (a, b), unique u (a, d), key db (d(5), b));
insert into y select concat('a', seq % 7), concat('b', seq), seq, concat('d', seq % 50) from seq_1_to_100;
alter table y modify a varchar(665) character set utf8mb4, algorithm=instant;
check table y;
select b from y force index (k) where a = 'a3' order by a, c limit 3;
select c from y force index (ab) where a = 'a3' and b > 'b5' order by b limit 3;
update y set d = concat(d, 'x') where a = 'a2';
delete from y where a = 'a4';
alter table y modify b varchar(101) character set utf8mb4 not null,
    modify d varchar(60) character set latin1 not null, algorithm=instant;
check table y;
select count(*), sum(c) from y force index (db) where d > '';
select count(*), sum(c) from y force index (u) where a > '';
alter table y modify d varchar(70) character set latin1 not null, drop key db, add key db (d(60), b);
check table y;
alter table y modify d varchar(80) character set latin1 not null, drop key db, add key db (d, b);
check table y;
select count(*), sum(c) from y force index (db) where d > '';
drop table y;

-- Temporary tables.
create temporary table m (a int primary key, b int);
insert into m values (1, 2), (3, 4);
alter table m add key (b), add column c int default 9;
select * from m force index (b) where b = 4;
alter table m add unique (c);
select * from m;
drop table m;
