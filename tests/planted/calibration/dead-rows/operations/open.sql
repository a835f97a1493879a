-- How much is open?
select sum(cents) from bills
