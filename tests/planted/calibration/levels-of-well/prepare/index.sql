create index by_well on well_levels (well, day, millimetres);
analyze table well_levels;
