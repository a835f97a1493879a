vacuum (full, analyze) archive_b;
