create extension if not exists {name}
