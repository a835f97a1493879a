set session optimizer_switch = 'default'
