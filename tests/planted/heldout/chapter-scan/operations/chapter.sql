-- How long is it?
select count(*) as counted, sum(lines) as lines from sections where chapter = ${chapter}
