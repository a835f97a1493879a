-- All other requests are refused: the server adds pages when it starts, and serves the files of its directory.
insert replacing DB.DBA.HTTP_ACL (HA_LIST, HA_ORDER, HA_CLIENT_IP, HA_FLAG, HA_DEST_IP, HA_RATE)
  values ('HTTP', 2, '*', 1, '*', 0)
