-- How long is what the links lead to?
select sum(length(words)) from links join pages on links.page = pages.id
