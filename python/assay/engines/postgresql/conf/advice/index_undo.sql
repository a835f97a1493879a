drop index concurrently if exists $in_schema$name;
