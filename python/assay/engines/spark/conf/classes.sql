create table training (a bigint, b string, c decimal(12, 2), d date) using parquet;
insert into training select id, concat('x', id), 1.5, date '2020-01-01' from range(100);
select one.b, count(*), sum(one.c), max(one.d)
from training one join training other on one.a = other.a
where one.b like 'x%' group by one.b order by 2 limit 5;
