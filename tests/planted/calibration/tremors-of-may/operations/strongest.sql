-- The strongest since spring, at any station but a noisy one.
select id, strength from tremors
where felt_at >= timestamp '2021-06-01' and station <> 13
order by strength desc, id limit 20
