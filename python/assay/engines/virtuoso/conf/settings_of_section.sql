select cfg_item_count (virtuoso_ini_path (), ?)
