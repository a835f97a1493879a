set session $name = '$value';
