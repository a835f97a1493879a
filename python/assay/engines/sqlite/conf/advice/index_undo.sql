drop index if exists $name;
