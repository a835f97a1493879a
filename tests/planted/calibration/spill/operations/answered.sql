-- How many notes have a reply?
select count(*) from notes join replies on notes.note = replies.note
