create index pet_treatments_by_keeper on pet_treatments (keeper);
