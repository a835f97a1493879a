select get_lock({lock}, 0)
