create index flight_coupons_by_ref on flight_coupons (booking_ref);
