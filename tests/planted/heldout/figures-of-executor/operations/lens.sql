-- How strong is this lens?
select dioptres, coating from optician_lenses where lens = ${lens}
