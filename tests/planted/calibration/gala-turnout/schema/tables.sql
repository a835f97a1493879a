create table turnouts as select n as slot, 0 as guests from generate_series(1, ${slots}) as made (n);
alter table turnouts add primary key (slot);
alter table turnouts set (fillfactor = 10);
create table tabs as select n as id, n % 700 as cents from generate_series(1, ${tabs}) as made (n);
alter table tabs add primary key (id);
create table admissions (slot int, tab int, cents bigint);
