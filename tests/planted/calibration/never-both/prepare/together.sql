create statistics tickets_together (mcv) on state, desk from tickets;
analyze tickets;
