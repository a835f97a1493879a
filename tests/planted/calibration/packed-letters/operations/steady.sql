-- Work that the cause leaves alone.
select count(*) from (select generate_series(1, ${steady}) as n) as numbers where md5(n::text) like 'aa%'
