create function weigh_box() returns trigger language plpgsql as $body$
begin
  select count(*) into new.weight from generate_series(1, 800) as gram (n) where n % 7 = new.box % 7;
  return new;
end
$body$;
create trigger boxes_weighed before update on boxes for each row execute function weigh_box();
