-- Everybody wants another article.
begin;
select amount from stock where article = ${article};
update stock set reserved = reserved + 1 where article = ${article};
do sleep(0.002);
commit;
