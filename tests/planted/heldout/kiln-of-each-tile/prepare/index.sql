create index roof_tiles_kiln on roof_tiles (kiln);
