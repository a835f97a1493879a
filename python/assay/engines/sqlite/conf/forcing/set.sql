pragma $name = $value;
