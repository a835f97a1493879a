-- What was paid around here?
select sum(cents) as cents from tolls where toll between ${toll} and ${toll} + 400
