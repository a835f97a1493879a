-- How many codes begin so?
select count(*) from generate_series(1, 8000) as code (n) where md5((n + ${guest})::text) like 'ab%'
