set session optimizer_switch = {switch}
