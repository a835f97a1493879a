set search_path to {name}
