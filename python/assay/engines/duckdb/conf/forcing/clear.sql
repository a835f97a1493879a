reset global $name;
