create index order_lines_order on order_lines (order_no);
