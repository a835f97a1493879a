create table dictionary (entry integer primary key, topic integer not null, word text not null, meaning text not null);
insert into dictionary
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${entries})
select id, (id * 7919) % ${topics} + 1, 'word ' || id, 'its meaning in other words than ours, which is longer than the word itself: ' || hex(id) || ' and so on and so forth, until the line is full' from made;
create index dictionary_topic on dictionary (topic);
