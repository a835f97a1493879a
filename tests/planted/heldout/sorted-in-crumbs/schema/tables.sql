create table tram_pings as select id as ping, (id * 7919) % 1000003 as sent, repeat('s', 40) as stop_name from generate_series(1, ${pings}) as made (id);
