update people set hours = hours - 1 where person <= 250;
