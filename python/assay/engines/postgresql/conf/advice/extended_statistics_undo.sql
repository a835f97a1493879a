drop statistics if exists $in_schema$name;
