-- What has this queue to do?
select count(*), sum(state) from jobs where queue = ${queue}
