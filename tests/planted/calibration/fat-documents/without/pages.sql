-- How long are they?
select avg(pages) as pages, count(*) as counted, max(md5(id::text)) as latest from documents
