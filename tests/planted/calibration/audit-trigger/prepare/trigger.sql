create function check_reading() returns trigger language plpgsql as $body$
declare
  digest text := '';
begin
  for round in 1..150 loop
    digest := md5(digest || new.meter || new.litres);
  end loop;
  if digest = 'never' then
    raise exception 'not a reading';
  end if;
  return new;
end
$body$;
create trigger readings_check before insert on meter_readings for each row execute function check_reading();
