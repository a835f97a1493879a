-- Ten rows by key, then a range as it is, summed, ordered, and without duplicates.
begin;
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
commit;
