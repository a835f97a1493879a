-- Who is it?
select credit, address from club where member = ${member}
