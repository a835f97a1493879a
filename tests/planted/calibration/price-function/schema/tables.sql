create table price_list as select id, id % 5000 as cents, id % 3 as class from generate_series(1, ${prices}) as made (id);
create function taxed(cents int, class int) returns numeric language plpgsql as $body$
declare
  rate numeric := 0.19;
begin
  if class = 1 then
    rate := 0.07;
  elsif class = 2 then
    rate := 0;
  end if;
  return cents * (1 + rate);
end
$body$;
