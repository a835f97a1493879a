select sum(sqrt(id * 1.5)) from generate_series(1, 200000) as made (id);
