-- How many are polite?
select count(*) from love_letters where dear
