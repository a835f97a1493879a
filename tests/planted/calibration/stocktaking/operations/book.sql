-- Some go, some come.
update goods set amount = amount + 1 where good = ${good}
