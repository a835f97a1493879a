create table tolls_with_times as select *, strptime(stamped, '%Y/%m/%d %H:%M') as stamped_at from bridge_tolls;
drop table bridge_tolls;
alter table tolls_with_times rename to bridge_tolls;
checkpoint;
