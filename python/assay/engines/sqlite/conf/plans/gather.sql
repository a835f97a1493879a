-- Statistics of all tables, in a transaction that is rolled back.
analyze
