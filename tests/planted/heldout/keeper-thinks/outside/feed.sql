select count(*) from aviary_birds where bird between 1 and 300 for update;
