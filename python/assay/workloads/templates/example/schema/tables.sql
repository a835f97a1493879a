create table towns (
  town integer not null,
  region varchar(10) not null,
  visits integer not null
);
