lock table ferry_cabins in share row exclusive mode;
