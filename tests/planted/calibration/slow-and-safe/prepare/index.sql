create index counter_parcels_code on counter_parcels (code);
