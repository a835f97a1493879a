create database if not exists mysql;
use mysql;
set @auth_root_socket = null;
