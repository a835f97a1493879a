-- Which words are there?
select count(*), max(word), max(length(meaning)) from dictionary where topic = ${topic}
