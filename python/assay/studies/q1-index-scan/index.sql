create index l_shipdate_idx on lineitem (l_shipdate);
-- Else the first query, cold, reads more than its own pages: it would set hint bits, and the planner would guess.
vacuum (analyze) lineitem;
