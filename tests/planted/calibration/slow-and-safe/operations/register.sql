-- It is here, and so many others are.
begin immediate;
update counter_parcels set seen = seen + 1 where code = ${parcel};
select count(*), sum(seen), max(about) from counter_parcels where id > 3000;
commit;
