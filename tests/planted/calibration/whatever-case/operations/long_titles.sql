-- How many have a long title?
select count(*), max(title) from songs where song_no > 14000 and length(title) > 12
