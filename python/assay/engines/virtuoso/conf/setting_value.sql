select cfg_item_value (virtuoso_ini_path (), ?, ?)
