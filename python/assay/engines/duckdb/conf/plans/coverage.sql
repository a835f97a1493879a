-- Else only queries are told, and not what changes tables.
set profiling_coverage = 'ALL'
