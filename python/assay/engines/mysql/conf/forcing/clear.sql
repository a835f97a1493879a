set session $name = default;
