-- How much has this author written?
select count(*), max(printed), min(title) from articles where author = ${author}
