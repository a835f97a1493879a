vacuum (full, analyze) waiting;
