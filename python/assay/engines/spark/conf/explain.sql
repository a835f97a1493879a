explain formatted {statement}
