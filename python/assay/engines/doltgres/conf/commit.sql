-- The tables are in the history, so that a collection of garbage needs not look at them again.
select dolt_commit('-Am', 'loaded')
