-- All prices with their taxes.
select sum(taxed(cents, class)) as total from price_list
