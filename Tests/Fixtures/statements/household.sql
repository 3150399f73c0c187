-- what a room is worth
select room, count(*) n, sum(valueInDollars) total from items group by room order by total desc, room;
-- medians of rooms with more than three things
select room, median(valueInDollars) middle, stddev(valueInDollars) spread from items
group by room having count(*) > 3 order by room;
-- the share of a room
select room, name, round(100.0 * valueInDollars / sum(valueInDollars) over (partition by room), 3) share from items
where room in ('Hall', 'Study') order by room, name;
-- the dearest two of each room
select room, name, place from (
  select room, name, row_number() over (partition by room order by valueInDollars desc, name) place from items)
where place <= 2 order by room, place;
-- counts under conditions
select count(*) filter (where valueInDollars >= 1000) dear, count(*) filter (where serialNumber is null) unnumbered,
  count(distinct room) rooms, avg(valueInDollars) filter (where category = 'Toys') toys from items;
-- bought in each decade
select cast(substr(cast(dateCreated as text), 1, 3) || '0' as integer) as decade, count(*) n, min(name) first from items
group by 1 order by 1;
-- things of one day
select a.name one, b.name other, substr(cast(a.dateCreated as text), 1, 10) as day from items a
join items b on a.dateCreated = b.dateCreated and a.name < b.name order by day, one, other;
-- rooms without a toy
select distinct room from items where room not in (select room from items where category = 'Toys') order by room;
-- above the mean of its category
with means as (select category, avg(valueInDollars) mean from items group by category)
select i.name, i.category, i.valueInDollars - m.mean above from items i join means m on m.category = i.category
where i.valueInDollars > m.mean order by above desc, i.name;
-- a running total
select name, sum(valueInDollars) over (order by dateCreated, name rows between unbounded preceding and current row) total
from items order by dateCreated, name limit 12;
-- classes of value
select case when valueInDollars < 50 then 'small' when valueInDollars < 500 then 'middle' else 'large' end as class,
  count(*) n, max(valueInDollars) most from items group by 1 order by 1;
-- names and notes
select upper(name) as loud, length(name) as letters, replace(name, ' ', '_') joined, coalesce(serialNumber, '(none)') serial
from items where notes is null order by name;
