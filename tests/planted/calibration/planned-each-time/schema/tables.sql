create table asset_kinds as select id, 'kind ' || id as title from generate_series(1, 40) as made (id);
create table asset_sites as select id, 'site ' || id as title, id % 9 + 1 as region from generate_series(1, 60) as made (id);
create table asset_regions as select id, 'region ' || id as title from generate_series(1, 9) as made (id);
create table asset_owners as select id, 'owner ' || id as title, id % 5 + 1 as team from generate_series(1, 90) as made (id);
create table asset_teams as select id, 'team ' || id as title from generate_series(1, 5) as made (id);
create table asset_makers as select id, 'maker ' || id as title, id % 30 + 1 as country from generate_series(1, 50) as made (id);
create table asset_countries as select id, 'country ' || id as title from generate_series(1, 30) as made (id);
create table asset_states as select id, 'state ' || id as title from generate_series(1, 4) as made (id);
create table assets as
select id, id % 40 + 1 as kind, id % 60 + 1 as site, id % 90 + 1 as owner, id % 50 + 1 as maker, id % 4 + 1 as state
from generate_series(1, ${assets}) as made (id);
alter table asset_kinds add primary key (id);
alter table asset_sites add primary key (id);
alter table asset_regions add primary key (id);
alter table asset_owners add primary key (id);
alter table asset_teams add primary key (id);
alter table asset_makers add primary key (id);
alter table asset_countries add primary key (id);
alter table asset_states add primary key (id);
alter table assets add primary key (id);
