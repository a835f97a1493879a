create table letters (id integer not null, words text not null);

create table links (letter integer not null);
