set password "{old}" "{new}"
