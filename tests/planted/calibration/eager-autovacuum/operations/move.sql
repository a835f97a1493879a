-- To the next street.
update parcels set street = street + 1 where id = ${parcel}
