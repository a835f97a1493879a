create or replace table journeys as select * from journeys order by day;
checkpoint;
