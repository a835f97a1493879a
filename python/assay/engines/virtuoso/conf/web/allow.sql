-- Requests to the SPARQL page are allowed.
insert replacing DB.DBA.HTTP_ACL (HA_LIST, HA_ORDER, HA_CLIENT_IP, HA_FLAG, HA_DEST_IP, HA_RATE)
  values ('HTTP', 1, '*', 0, '/sparql?%', 0)
