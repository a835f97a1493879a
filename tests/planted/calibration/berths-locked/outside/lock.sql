lock tables berths write;
do sleep(0.05);
unlock tables;
