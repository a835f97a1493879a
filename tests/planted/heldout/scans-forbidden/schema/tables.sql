create table marina_moorings as select id as mooring, (id * 11) % ${yachts} + 1 as yacht, id % 30 as nights from generate_series(1, ${moorings}) as made (id);
create index marina_moorings_yacht on marina_moorings (yacht);
