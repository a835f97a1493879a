-- How many codes begin so?
select count(*) from generate_series(1, 1500) as code (n) where md5((n * ${lane})::text) like 'ee%'
