-- How much is in this part of the cellar?
select count(*) as casks, sum(litres) as litres from wine_casks where substr(cellar_code, 1, 5) = concat(lpad(${part}, 4, '0'), '-')
