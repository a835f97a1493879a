create index kennel_walks_walked on kennel_walks (kennel, walked);
