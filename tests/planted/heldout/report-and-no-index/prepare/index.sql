create index ski_hires_guest on ski_hires (guest);
