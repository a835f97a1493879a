drop user if exists assay@localhost, assay@'127.0.0.1', root@localhost;
create user assay@localhost identified by {password};
create user assay@'127.0.0.1' identified by {password};
grant all on *.* to assay@localhost with grant option;
grant all on *.* to assay@'127.0.0.1' with grant option;
create database if not exists assay;
