analyze orders;
