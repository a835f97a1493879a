-- How long is what the links lead to?
select sum(length(words)) from links join letters on links.letter = letters.id
