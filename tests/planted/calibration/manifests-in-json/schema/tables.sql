create table crates as
select n as id, n % 23 as carrier,
 '{"sender": {"name": "sender ' || n % 900 || '", "street": "' || repeat('s', 40) || '"}, "lines": [' || repeat('{"sku": "A-77", "units": 12, "note": "fragile"}, ', 4)
 || '{"sku": "last", "units": 1}], "harbour": "H' || n % 40 || '", "grams": ' || n * 37 % 90000 || '}' as manifest
from generate_series(1, ${crates}) as made (n);
