vacuum (disable_page_skipping) parcels;
analyze parcels;
