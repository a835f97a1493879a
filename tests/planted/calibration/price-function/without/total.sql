-- All prices with their taxes.
select sum(cents * case class when 1 then 1.07 when 2 then 1 else 1.19 end) as total from price_list
