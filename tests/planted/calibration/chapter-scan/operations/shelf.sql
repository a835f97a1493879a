-- How long are all of some?
select count(*) as counted, max(pages) as pages from sections where id < 100000 and pages > 290
