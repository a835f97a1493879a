-- How much is on this spool?
select metres, dye from yarn_spools where spool = ${spool}
