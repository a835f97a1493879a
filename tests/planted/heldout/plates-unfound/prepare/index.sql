create index parking_stays_plate on parking_stays (plate);
