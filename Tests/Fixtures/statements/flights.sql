-- delays of airlines
select a.name, count(*) n, avg(f.arr_delay) mean from items f join {airlines} a on a.carrier = f.carrier
group by a.name order by mean desc;
-- airports and months
select origin, month, count(*) n, avg(air_time) mean from items group by origin, month order by origin, month;
-- the median delay of an airline
select carrier, median(arr_delay) middle, max(arr_delay) worst from items group by carrier order by carrier;
-- the three latest flights of each airport
select origin, carrier, flight, dep_delay, place from (
  select origin, carrier, flight, dep_delay,
    row_number() over (partition by origin order by dep_delay desc nulls last, carrier, flight, month, day) place
  from items) where place <= 3 order by origin, place;
-- the weather at the departure
select w.visib, count(*) n, avg(f.dep_delay) mean from items f
join {weather} w on w.origin = f.origin and w.month = f.month and w.day = f.day and w.hour = f.hour
group by w.visib order by w.visib;
-- destinations without a row
select f.dest, count(*) n from items f left join {airports} p on p.faa = f.dest where p.faa is null
group by f.dest order by f.dest;
-- the age of planes
select case when p.year < 1990 then 'old' when p.year < 2005 then 'middle' else 'new' end age, count(*) n,
  avg(f.distance) mean from items f join {planes} p on p.tailnum = f.tailnum where p.year is not null group by 1 order by 1;
-- cancelled
select month, count(*) filter (where dep_time is null) cancelled, count(*) n from items group by month order by month;
-- routes of more than one airline
select origin, dest, count(distinct carrier) airlines, count(*) n from items group by origin, dest
having count(distinct carrier) > 3 order by n desc, origin, dest limit 20;
-- made up on the way
with gains as (select carrier, dep_delay - arr_delay gain, distance from items where dep_delay > 30 and arr_delay is not null)
select carrier, count(*) n, avg(gain) mean, sum(case when gain > 0 then 1 else 0 end) made from gains
group by carrier order by mean desc;
