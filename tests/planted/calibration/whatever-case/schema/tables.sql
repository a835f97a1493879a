create table songs (song_no integer primary key, title text not null, seconds integer not null);
insert into songs
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${songs})
select id, 'Song No ' || id, id % 400 from made;
create index songs_title on songs (title);
