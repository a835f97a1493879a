-- How much is there of each shade?
select shade, sum(millilitres) as millilitres from paint_tins where tin_no <= 20000 group by shade order by shade
