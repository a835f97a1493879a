-- How long is it?
select song_no, seconds from songs where title = ('song no ' || ${song}) collate nocase
