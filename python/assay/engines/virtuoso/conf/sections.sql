select cfg_section_count (virtuoso_ini_path ())
