select cfg_section_name (virtuoso_ini_path (), ?)
