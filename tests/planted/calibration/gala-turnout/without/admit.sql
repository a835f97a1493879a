-- A guest comes in.
begin;
update turnouts set guests = guests + 1 where slot = ${slot};
select sum(cents) as cents from tabs where id between ${tab} and ${tab} + 6000;
insert into admissions values (${slot}, ${tab}, 1);
commit;
