select '<urn:pot:' || id || '> <urn:filled-by> <urn:beekeeper:' || (id * 7919) % 307 || '> .' as triple from range(1, ${pots} + 1) as made (id)
union all
select '<urn:pot:' || id || '> <urn:grams> "' || id % 500 || '"^^<http://www.w3.org/2001/XMLSchema#integer> .' from range(1, ${pots} + 1) as made (id)
