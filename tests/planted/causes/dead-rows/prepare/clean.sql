vacuum full analyze bills;
