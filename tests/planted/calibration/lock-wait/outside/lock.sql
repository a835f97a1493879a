lock table seats in access exclusive mode
