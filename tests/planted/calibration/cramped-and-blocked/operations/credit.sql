-- Some credit, for one of the first.
update club set credit = credit + 1 where member = ${member} % 400 + 1
