-- One night more.
update berths set nights = nights + 1 where berth = ${berth}
