-- Is the pattern all right?
with recursive made (n) as (select 1 union all select n + 1 from made where n < 2500)
select count(*) from made where n % 7 = 3
