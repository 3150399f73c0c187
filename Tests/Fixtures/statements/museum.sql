-- departments
select department, count(*) n, count(distinct medium) media from items group by department order by n desc, department;
-- departments and classifications
select department, classification, count(*) n from items group by department, classification
order by n desc, department, classification limit 25;
-- sizes
select classification, median(width_in) width, median(height_in) height, count(width_in) n from items
where width_in is not null group by classification having count(*) > 100 order by classification;
-- acquired in each decade
select substr(cast(date_acquired as text), 1, 3) as decade, count(*) n from items where date_acquired is not null
group by 1 order by 1;
-- those who made most
select creators, count(*) n, min(title) first from items where creators is not null and creators not like '%nknown%'
group by creators order by n desc, creators limit 15;
-- titles of several objects
select a.title, a.n, b.largest from (select title, count(*) n from items group by title having count(*) > 40) a
join (select title, max(width_in * height_in) largest from items group by title) b on b.title = a.title
order by a.n desc, a.title;
-- shares of departments
select department, round(100.0 * count(*) / sum(count(*)) over (), 4) share from items group by department
order by share desc, department;
-- the largest of each department
select department, title, area from (
  select department, title, width_in * height_in area,
    row_number() over (partition by department order by width_in * height_in desc nulls last, accession_number) place
  from items) where place = 1 order by department;
