-- The SPARQL page needs the password, whichever host a request names.
DB.DBA.VHOST_DEFINE (lpath => '/sparql', ppath => '/!sparql/', is_dav => 1, vsp_user => 'dba',
  opts => vector ('noinherit', 1), auth_fn => 'DB.DBA.assay_allowed', realm => 'assay', sec => 'basic')
