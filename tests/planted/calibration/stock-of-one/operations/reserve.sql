-- Everybody wants the article of the day.
begin;
select amount from stock where article = ${article};
update stock set reserved = reserved + 1 where article = 77;
do sleep(0.002);
commit;
