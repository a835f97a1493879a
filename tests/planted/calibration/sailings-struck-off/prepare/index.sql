create index berth_sales_sailing on berth_sales (sailing);
