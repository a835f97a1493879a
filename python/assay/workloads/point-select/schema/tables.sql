-- A number to find an entry by, one to group it by, and two texts that give a row its width.

create table entries (
  id integer not null,
  k integer not null,
  c char(120) not null,
  pad char(60) not null
);
