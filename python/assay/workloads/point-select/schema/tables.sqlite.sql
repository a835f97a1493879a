-- why: in SQLite the primary key says where a row is kept, so it cannot be added later.

create table entries (
  id integer primary key,
  k integer not null,
  c char(120) not null,
  pad char(60) not null
);
