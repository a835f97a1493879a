select @@session.optimizer_switch
