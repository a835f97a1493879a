-- What is it?
select family, about from herbarium where plant = ${plant}
