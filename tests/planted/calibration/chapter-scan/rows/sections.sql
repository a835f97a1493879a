select id, (id * 7919) % ${chapters} + 1 as chapter, id % 300 as pages from range(1, ${sections} + 1) as made (id)
