-- why: a timestamp would be a moment in UTC, and ends in 2038.
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
  moment datetime(6) not null,
  filler char(22)
);
