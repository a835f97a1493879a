-- Which browsers were used last?
select agent, count(*), sum(seconds) from views where id > 32000 group by agent order by 2 desc, 1 limit 5
