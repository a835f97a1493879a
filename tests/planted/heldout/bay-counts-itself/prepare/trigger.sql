create function recount_bay() returns trigger language plpgsql as $body$
declare
  total bigint;
begin
  select sum(kilos) into total from frozen_pallets where bay = new.bay;
  if total < 0 then
    raise exception 'less than nothing';
  end if;
  return null;
end
$body$;
create trigger bay_recounted after update on frozen_pallets for each row execute function recount_bay();
