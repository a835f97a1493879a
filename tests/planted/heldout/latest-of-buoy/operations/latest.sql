-- How high were the latest waves?
select rolled, millimetres from buoy_waves where buoy = ${buoy} order by rolled desc limit 3
