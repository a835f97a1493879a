create table trawler_catches (id integer not null primary key, harbour integer not null, kilos integer not null);
