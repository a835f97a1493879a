-- How many different notes are there?
select count(distinct note) from notes
