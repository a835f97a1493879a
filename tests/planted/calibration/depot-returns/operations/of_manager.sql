-- What came back to this manager's depot?
select count(*) as counted, sum(g.kilos) as kilos from goods_returned g join depots d on d.depot_no = g.depot where d.manager = 'manager 99'
