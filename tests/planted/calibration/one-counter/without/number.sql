-- The next number of some range.
begin;
update number_ranges set last = last + 1 where id = ${range};
insert into numbered values (${range}, 1);
select pg_sleep(0.001);
commit;
