create table sections (id integer not null primary key, chapter integer not null, pages integer not null);
