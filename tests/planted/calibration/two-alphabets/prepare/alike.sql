alter table destinations modify town varchar(40) character set utf8mb4 collate utf8mb4_bin not null;
alter table deliveries modify town varchar(40) character set utf8mb4 collate utf8mb4_bin not null;
analyze table destinations;
analyze table deliveries;
