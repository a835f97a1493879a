create table positions (ship integer, minute integer, north double, east double);
