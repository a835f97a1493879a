-- What to do next?
select case_no, subject from cases where clerk = ${clerk} order by opened limit 5
