-- Who is at this depot, or rides this bike?
select courier_no, note from couriers where depot = ${depot} or bike = ${depot}
