-- How is this pump and its neighbours?
select avg(bar) from pumps where id between ${pump} and ${pump} + 200
