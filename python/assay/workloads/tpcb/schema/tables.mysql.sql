-- why: MySQL and its kin have no timestamp with a time zone: their timestamp is a moment, kept in UTC.
-- Fillers give rows the hundred bytes that the benchmark asks for.

create table branches (
  branch integer not null,
  balance integer not null,
  filler char(88)
);

create table tellers (
  teller integer not null,
  branch integer not null,
  balance integer not null,
  filler char(84)
);

create table accounts (
  account integer not null,
  branch integer not null,
  balance integer not null,
  filler char(84)
);

create table history (
  teller integer not null,
  branch integer not null,
  account integer not null,
  delta integer not null,
  moment timestamp(6) not null,
  filler char(22)
);
