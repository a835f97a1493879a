-- The server's time, to know which entries of its log are younger, and its processor's clock.
select curdatetime() as started, rdtsc() as clock
