select id, id % 70 as harbour, (id * 7919) % 100003 as kilos from range(1, ${trawler_catches} + 1) as made (id)
