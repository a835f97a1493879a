unlock tables;
do sleep(0.1);
lock tables goods write;
