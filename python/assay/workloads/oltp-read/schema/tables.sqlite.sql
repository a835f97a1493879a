-- why: in SQLite the primary key says where a row is kept, so it cannot be added later.
-- The columns of sysbench's table.

create table sbtest1 (
  id integer primary key,
  k integer default 0 not null,
  c char(120) default '' not null,
  pad char(60) default '' not null
);
