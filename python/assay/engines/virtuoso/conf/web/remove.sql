DB.DBA.VHOST_REMOVE (lpath => '/sparql')
