-- One more night.
update loyalty_points set points = points + 250, nights = nights + 1 where member_no = ${member}
