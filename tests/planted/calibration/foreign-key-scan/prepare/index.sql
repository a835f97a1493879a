create index parcels_carrier on parcels (carrier);
