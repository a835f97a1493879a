-- How many are polite?
select count(*) from love_letters where text_of like 'Dear %e%'
