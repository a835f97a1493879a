explain analyze
