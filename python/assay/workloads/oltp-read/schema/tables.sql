-- The columns of sysbench's table. Whoever inserts a row names its id, so no engine has to make one.

create table sbtest1 (
  id integer not null,
  k integer default 0 not null,
  c char(120) default '' not null,
  pad char(60) default '' not null
);
