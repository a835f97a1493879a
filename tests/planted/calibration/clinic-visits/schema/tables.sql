create table clinics (clinic_no integer primary key, town text not null, beds integer not null);
create table visits (visit_no integer primary key, clinic integer not null references clinics, age integer not null, cents integer not null);
insert into clinics select i, 'town ' || i % 1000, i % 90 from generate_series(1, ${clinics}) as i;
insert into visits select i, (i * 79) % ${clinics} + 1, i % 97, i % 60013 from generate_series(1, ${visits}) as i;
create index clinics_town on clinics (town);
analyze clinics;
analyze visits;
