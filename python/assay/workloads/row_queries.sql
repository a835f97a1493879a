-- A workload's folder may come from anybody, so its queries reach no file, no network and no variable of Python, and
-- cannot allow themselves more. The order matters: the last statement keeps the others as they are.
set autoinstall_known_extensions = false;
set autoload_known_extensions = false;
set python_enable_replacements = false;
set enable_external_access = false;
set lock_configuration = true;
