select '<urn:loan:' || id || '> <urn:reader> <urn:reader:' || (id * 7919) % 20011 || '> .' as triple from range(1, ${loans} + 1) as made (id)
union all
select '<urn:loan:' || id || '> <urn:days> "' || id % 60 || '"^^<http://www.w3.org/2001/XMLSchema#integer> .' from range(1, ${loans} + 1) as made (id)
