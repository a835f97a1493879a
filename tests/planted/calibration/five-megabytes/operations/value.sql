-- What does this sensor say?
select kind, reading from sensors where id = ${sensor}
