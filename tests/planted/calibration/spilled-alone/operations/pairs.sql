-- How often does a gene come in a row of cells?
select max(often) as most, max(id) as latest from (select id, rank() over (order by gene, cell) as often from genes)
