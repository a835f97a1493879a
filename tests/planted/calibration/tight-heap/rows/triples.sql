select '<urn:use:' || id || '> <urn:word> "word ' || (id * 7919) % 40009 || '" .' as triple from range(1, ${words} + 1) as made (id)
union all
select '<urn:use:' || id || '> <urn:author> <urn:author:' || id % 50 || '> .' from range(1, ${words} + 1) as made (id)
