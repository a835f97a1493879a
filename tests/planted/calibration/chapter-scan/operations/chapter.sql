-- How long is it?
select count(*) as counted, sum(pages) as pages from sections where chapter = 77
