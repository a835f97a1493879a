create index invoices_shop_state on invoices (shop, state);
