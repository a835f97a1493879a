vacuum (full, analyze) archive_a;
