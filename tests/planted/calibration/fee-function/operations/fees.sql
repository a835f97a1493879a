-- All fees.
select sum(fee(cents, country)) as fees from transfers
