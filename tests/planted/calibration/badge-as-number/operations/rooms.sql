-- How many rooms are there in this building?
select count(*) as counted, max(room) as last from employees where id <= 1000
