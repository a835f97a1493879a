-- What is new?
select id, title from articles where author = ${author} order by printed desc limit 10
