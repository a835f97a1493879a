-- How long was this page looked at?
select count(*), sum(seconds) from views where page = ${page}
