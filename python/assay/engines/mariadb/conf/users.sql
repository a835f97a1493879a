create or replace user assay@localhost identified by {password};
create or replace user assay@'127.0.0.1' identified by {password};
grant all on *.* to assay@localhost with grant option;
grant all on *.* to assay@'127.0.0.1' with grant option;
drop user if exists root@localhost, root@'127.0.0.1', root@'::1', ''@localhost;
create database if not exists assay;
