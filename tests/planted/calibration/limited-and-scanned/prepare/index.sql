create index wrist_bands_band on wrist_bands (band);
