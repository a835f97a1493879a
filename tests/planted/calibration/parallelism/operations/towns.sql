-- How long are visits in each town?
select town, count(*), sum(minutes), avg(minutes) from visits group by town
