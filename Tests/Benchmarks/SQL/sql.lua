-- The items as a table of SQL, beside the same statements over a table of SQLite's own with the same columns, in the
-- same process: arg[1] items (1,013,148) like flights, in milliseconds, and their ratio.
local n = tonumber(arg[1]) or 1013148
local folder = app.container.tmp
local file = assert(io.open(folder .. "/airlines.csv", "w"))
file:write("code,title\n")
for number = 0, 15 do file:write(("C%d,Airline %d\n"):format(number, number)) end
file:close()

items:declare{
  month = "integer", day = "integer", dep = "integer", arr = "integer", carrier = "string", origin = "string",
  dest = "string", dist = "integer", tail = "string", air = "real",
}
sql(([[
  with recursive t(i) as (select 0 union all select i + 1 from t where i + 1 < %d)
  insert into items(month, day, dep, arr, carrier, origin, dest, dist, tail, air)
  select i * 12 / %d + 1, abs(random() %% 31) + 1, random() %% 300, random() %% 300, 'C' || abs(random() %% 16),
    'AP' || abs(random() %% 3), 'AP' || abs(random() %% 100), abs(random() %% 5000), 'N' || abs(random() %% 4000),
    abs(random() %% 40000) / 100.0 from t]]):format(n, n))
local columns = "month, day, dep, arr, carrier, origin, dest, dist, tail, air"
sql(("create temp table plain as select %s from items"):format(columns))
sql(("create temp table airlines as select * from csv('%s/airlines.csv')"):format(folder))
local csv = ("csv('%s/airlines.csv')"):format(folder)

local statements = {
  { "group by one key", "select carrier, count(*), sum(arr) from items group by carrier" },
  { "group by two keys", "select carrier, origin, count(*), sum(arr) from items group by carrier, origin" },
  { "filter of 1 %", "select count(*), sum(arr) from items where dist between 100 and 149" },
  { "join with 16 rows", "select a.title, avg(i.arr) from items i join AIRLINES a on a.code = i.carrier group by 1" },
  { "left join", "select a.title, avg(i.arr) from items i left join AIRLINES a on a.code = i.carrier group by 1" },
  { "join of aggregates", "select carrier, n, m from (select carrier, count(*) n from items group by 1)"
      .. " join (select carrier, max(arr) m from items group by 1) using (carrier)" },
  { "sum", "select sum(arr), avg(air) from items" },
  { "order by, limit", "select tail, arr from items order by arr desc limit 10" },
  { "median", "select carrier, median(arr) from items group by carrier" },
}

local function time(text)
  local best = math.huge
  for _ = 1, 3 do
    local start = os.clock()
    for _ in sql.each(text) do end
    best = math.min(best, os.clock() - start)
  end
  return best * 1000
end

print(("%-20s %10s %10s %7s"):format("", "items", "table", "ratio"))
for _, statement in ipairs(statements) do
  local ours = time((statement[2]:gsub("AIRLINES", csv)))
  local plain = time((statement[2]:gsub("AIRLINES", "airlines"):gsub("from items", "from plain")))
  print(("%-20s %7.0f ms %7.0f ms %6.2f ×"):format(statement[1], ours, plain, ours / plain))
end

-- The same with an index, beside the items without one and a table with one.
local indexed = {
  { "one value", "select sum(arr) from items where dist = 77" },
  { "a range of ten", "select sum(arr) from items where dist between 100 and 109" },
  { "order by, limit 10", "select dist, arr from items order by dist desc limit 10" },
  { "the greatest", "select max(dist) from items" },
}
local without = {}
for place, statement in ipairs(indexed) do without[place] = time(statement[2]) end
items:createIndex("dist")
sql("create index temp.plain_dist on plain(dist)")
print(("\n%-20s %10s %10s %10s %7s %7s"):format("by an index", "items", "without", "table", "ratio", "ratio"))
for place, statement in ipairs(indexed) do
  local ours, plain = time(statement[2]), time((statement[2]:gsub("from items", "from plain")))
  print(("%-20s %7.2f ms %7.2f ms %7.2f ms %6.3f × %6.2f ×"):format(
    statement[1], ours, without[place], plain, ours / without[place], ours / plain))
end
