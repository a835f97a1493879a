-- A sailing does not take place.
delete from sailings where id = ${sailing}
