alter table solar_yields alter index solar_yields_roof ignored;
