create index visits_by_clinic on visits (clinic);
