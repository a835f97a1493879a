-- What did halls take?
select hall, sum(takings) as takings from concerts group by hall order by hall
