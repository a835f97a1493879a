-- Which rooms does this guest have?
select id, room, note from bookings where guest = ${guest}
