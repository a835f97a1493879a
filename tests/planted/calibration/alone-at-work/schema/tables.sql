create table turbine_readings (id integer not null primary key, turbine integer not null, watts integer not null);
