-- Who is next?
select count(*), min(id) from waiting
