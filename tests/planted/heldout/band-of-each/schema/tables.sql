create table rail_wagons as select id as wagon, (id * 7919) % 80000 as kilos, id % 12 as axles from generate_series(1, ${wagons}) as made (id);
create function tariff_band(kilos bigint) returns int language plpgsql as $body$
begin
  if kilos < 20000 then return 1; end if;
  if kilos < 50000 then return 2; end if;
  return 3;
end
$body$;
