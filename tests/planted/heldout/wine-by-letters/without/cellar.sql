-- How much is in this part of the cellar?
select count(*) as casks, sum(litres) as litres from wine_casks where cellar_code like concat(lpad(${part}, 4, '0'), '-%')
