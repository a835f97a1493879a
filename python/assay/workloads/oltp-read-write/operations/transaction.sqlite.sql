-- why: in SQLite a transaction that has read cannot wait for its turn to write, so it takes its turn at once.
-- All that is read in `oltp-read`, then all that is written in `oltp-write`.
begin immediate;
select c from sbtest1 where id = ${point_1};
select c from sbtest1 where id = ${point_2};
select c from sbtest1 where id = ${point_3};
select c from sbtest1 where id = ${point_4};
select c from sbtest1 where id = ${point_5};
select c from sbtest1 where id = ${point_6};
select c from sbtest1 where id = ${point_7};
select c from sbtest1 where id = ${point_8};
select c from sbtest1 where id = ${point_9};
select c from sbtest1 where id = ${point_10};
select c from sbtest1 where id between ${simple} and ${simple} + 99;
select sum(k) from sbtest1 where id between ${sum} and ${sum} + 99;
select c from sbtest1 where id between ${ordered} and ${ordered} + 99 order by c;
select distinct c from sbtest1 where id between ${distinct} and ${distinct} + 99 order by c;
update sbtest1 set k = k + 1 where id = ${index_update};
update sbtest1 set c = ${new_content} where id = ${other_update};
delete from sbtest1 where id = ${replaced};
insert into sbtest1 (id, k, c, pad)
values (${replaced}, ${replaced_k}, ${replaced_content}, ${replaced_pad});
commit;
