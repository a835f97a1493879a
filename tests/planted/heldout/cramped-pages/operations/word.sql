-- What does it mean?
select word, meaning from dictionary where entry = ${entry}
