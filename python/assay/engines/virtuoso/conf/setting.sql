select cfg_item_name (virtuoso_ini_path (), ?, ?)
