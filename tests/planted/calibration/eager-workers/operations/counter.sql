-- What did this counter sell?
select sum(cents) from tickets where counter = ${counter}
