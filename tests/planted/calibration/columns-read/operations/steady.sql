-- Work that the cause leaves alone.
select count(*) from range(${steady}) as numbers (n) where md5(cast(n as varchar)) like 'ab%'
