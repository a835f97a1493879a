-- A kiln is tried and broken up.
begin;
insert into tile_kilns values (${kiln} + 1000, 1100) on conflict do nothing;
delete from tile_kilns where kiln = ${kiln} + 1000;
commit
