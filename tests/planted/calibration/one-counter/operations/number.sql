-- The next number of the one range.
begin;
update number_ranges set last = last + 1 where id = 9;
insert into numbered values (${range}, 1);
select pg_sleep(0.001);
commit;
