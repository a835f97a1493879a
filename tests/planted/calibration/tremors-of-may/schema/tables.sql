create table tremors (id int not null, felt_at timestamp not null, station int not null, strength int not null, remark text not null)
partition by range (felt_at);
create table tremors_01 partition of tremors for values from ('2021-01-01') to ('2021-02-01');
create table tremors_02 partition of tremors for values from ('2021-02-01') to ('2021-03-01');
create table tremors_03 partition of tremors for values from ('2021-03-01') to ('2021-04-01');
create table tremors_04 partition of tremors for values from ('2021-04-01') to ('2021-05-01');
create table tremors_05 partition of tremors for values from ('2021-05-01') to ('2021-06-01');
create table tremors_06 partition of tremors for values from ('2021-06-01') to ('2021-07-01');
create table tremors_07 partition of tremors for values from ('2021-07-01') to ('2021-08-01');
create table tremors_08 partition of tremors for values from ('2021-08-01') to ('2021-09-01');
create table tremors_09 partition of tremors for values from ('2021-09-01') to ('2021-10-01');
create table tremors_10 partition of tremors for values from ('2021-10-01') to ('2021-11-01');
create table tremors_11 partition of tremors for values from ('2021-11-01') to ('2021-12-01');
create table tremors_12 partition of tremors for values from ('2021-12-01') to ('2022-01-01');
insert into tremors
select n, timestamp '2021-01-01' + (n::bigint * 104729 % 31535999) * interval '1 second', n % 97, (n * 31) % 900, repeat('t', 40)
from generate_series(1, ${tremors}) as made (n);
