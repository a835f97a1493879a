set local $name = '$value';
