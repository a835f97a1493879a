-- How are lengths spread?
select count(*) as flights, sum(md5_number_lower(cast(n as varchar)) % 190) as minutes from range(1, 600000) as made (n)
