create index garage_visits_chassis on garage_visits (chassis);
