-- why: in SQLite the primary key says where a row is kept, so it cannot be added later.
-- Fillers give rows the hundred bytes that the benchmark asks for.

create table branches (
  branch integer primary key,
  balance integer not null,
  filler char(88)
);

create table tellers (
  teller integer primary key,
  branch integer not null,
  balance integer not null,
  filler char(84)
);

create table accounts (
  account integer primary key,
  branch integer not null,
  balance integer not null,
  filler char(84)
);

create table history (
  teller integer not null,
  branch integer not null,
  account integer not null,
  delta integer not null,
  moment timestamp with time zone not null,
  filler char(22)
);
