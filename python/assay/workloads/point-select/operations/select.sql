-- What does this entry say?
select c from entries where id = ${id}
