vacuum;
