-- What is for sale?
select lot_no, estimate from lots where auction = ${auction}
