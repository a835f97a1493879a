-- What was done in a week?
select sum(cents) as cents, max(work_done) as last from garage_visits where visit between ${first} and ${first} + 4000
