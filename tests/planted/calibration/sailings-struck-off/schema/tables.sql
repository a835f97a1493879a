create table sailings as
select n as id, 'route ' || n % 14 as route, n % 800 as spaces from generate_series(1, ${sailings}) as made (n);
alter table sailings add primary key (id);
create table berth_sales as
select n as id, (n::bigint * 7919 % ${sailings} + 1)::int as sailing, n % 4700 as cents, repeat('b', 50) as passenger
from generate_series(1, ${berth_sales}) as made (n);
alter table berth_sales add primary key (id);
alter table berth_sales add constraint berth_sales_of foreign key (sailing) references sailings (id) on delete cascade;
