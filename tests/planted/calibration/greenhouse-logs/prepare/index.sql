create index climate_logs_newest on climate_logs (house, logged_at);
