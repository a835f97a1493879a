-- What do the documents say?
select repeat('x', ${letters}) from generate_series(1, 40)
