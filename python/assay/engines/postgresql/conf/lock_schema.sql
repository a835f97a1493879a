-- One run at a time has the namespace. The lock ends with the connection, however that ends.
select pg_try_advisory_lock(hashtext('assay'), hashtext(%s))
