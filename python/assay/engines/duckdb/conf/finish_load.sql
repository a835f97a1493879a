-- Statistics for the optimiser, then everything into the database file.
analyze;
checkpoint;
