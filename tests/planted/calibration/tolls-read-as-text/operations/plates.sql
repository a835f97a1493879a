-- Every hundred thousandth plate, by the alphabet.
select plate, cents from (select plate, cents, row_number() over (order by plate) as place from bridge_tolls where id <= 700000) where place % 100000 = 0 order by place
