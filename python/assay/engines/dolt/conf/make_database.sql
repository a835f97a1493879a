create database if not exists {name} character set utf8mb4 collate utf8mb4_bin
