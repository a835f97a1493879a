-- What did this agent's parties fly for?
select p.ref, sum(c.cents) as cents from travel_parties p join flight_coupons c on c.booking_ref = p.ref where p.agent = ${agent} group by p.ref order by 1
