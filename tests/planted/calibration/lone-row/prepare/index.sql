create index pallets_code on pallets (code);
