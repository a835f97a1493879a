-- How long are they?
select avg((body ->> 'pages')::int) as pages, count(*) as counted, max(md5(id::text)) as latest from documents
