select pg_backend_pid(), inet_client_port()
