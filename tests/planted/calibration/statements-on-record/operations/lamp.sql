-- Is it lit?
select lit from lamps where lamp = ${lamp}
