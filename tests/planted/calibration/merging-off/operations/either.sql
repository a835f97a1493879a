-- Who is at this depot, or rides this bike?
select courier_no, note from riders where depot = ${depot} or bike = ${depot}
