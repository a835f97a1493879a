-- What did berths around this one cost?
select sum(cents) as cents, count(*) as berths from berth_sales where id between ${sale} and ${sale} + 3000
