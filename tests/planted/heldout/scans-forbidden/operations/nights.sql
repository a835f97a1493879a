-- How many nights did this yacht lie here?
select count(*) as times, sum(nights) as nights from marina_moorings where yacht = ${yacht}
