set global $name = '$value';
