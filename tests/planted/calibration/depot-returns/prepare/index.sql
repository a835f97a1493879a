create index goods_returned_by_depot on goods_returned (depot);
