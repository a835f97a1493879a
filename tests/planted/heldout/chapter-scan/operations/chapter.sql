-- How long are they?
select count(*) as counted, sum(pages) as pages from sections where chapter = 77 or chapter = 20077
