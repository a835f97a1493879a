create table meter_readings (id bigint generated always as identity primary key, meter int not null, litres int not null);
