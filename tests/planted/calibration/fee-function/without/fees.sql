-- All fees.
select sum(case country when 0 then 0 when 1 then cents * 0.01 else 10 + cents * 0.02 end) as fees from transfers
