-- The item store as a scripter uses it: the workload of ../shared/bench, by its protocol.
-- `store.lua run` makes the items and asks the questions; `store.lua load` opens what a killed run left.
local W = require "workload"

local N = math.tointeger(os.getenv("BENCH_N"))
local PHASE = ...

local function report(name, number, check)
  print(string.format("%s\t%.9f\t%s", name, number, check or ""))
  io.stdout:flush()
end

local function timed(name, body)
  local start = date()
  local check = body()
  report(name, date() - start, check)
end

local function finish()
  print("DONE")
  io.stdout:flush()
  io.stdin:read("l")
end

local fluffy = "valueInDollars > 900 AND name CONTAINS[c] 'fluffy'"

if PHASE == "load" then
  report("READY", 0, items:item(W.key_of(1)).valueInDollars)
  report("W3", 0, items:query(fluffy):count())
  report("SUM", 0, items:query():sum("valueInDollars"))
  return finish()
end

local function residentBytes()
  local file = assert(io.open("/proc/self/statm"))
  local pages = file:read("l"):match("^%d+ (%d+)")
  file:close()
  return pages * 4096
end

-- As the peers have one: an ordered index on the value.
items:createIndex("valueInDollars")

timed("W0", function()
  local next_item, sum = W.generator(), 0
  for _ = 1, N do
    local _, name, _, _, value = next_item()
    sum = sum + value + #name
  end
  return sum
end)

collectgarbage()
local before = residentBytes()
local started = date()
timed("W1", function()
  items:transaction(function()
    local next_item = W.generator()
    for _ = 1, N do
      local key, name, serial, seconds, value = next_item()
      items:createItem{
        itemKey = key, name = name, serialNumber = serial, dateCreated = date(seconds), valueInDollars = value,
      }
    end
  end)
  return #items
end)
-- Committed: with `--durability process` the journal is still to be brought to the disk.
assert(items:synchronize())
report("C2D", date() - started)
collectgarbage()
report("mem", (residentBytes() - before) / N)

do
  local keys = W.lookup_keys(N)
  timed("W2", function()
    local sum = 0
    for i = 1, #keys do sum = sum + items:item(keys[i]).valueInDollars end
    return sum
  end)
end

timed("W3", function() return items:query(fluffy):count() end)

timed("W4a", function()
  local top = {}
  local dearest = items:query():sorted("valueInDollars", "descending"):sorted("itemKey", "descending"):limit(10)
  for i, item in dearest:each() do top[i] = item.itemKey:sub(1, 8) end
  return table.concat(top, ",")
end)

timed("W4b", function()
  local all = items:query():sorted("name"):all()
  local names = {}
  for i, position in ipairs(W.positions(N)) do names[i] = all[math.tointeger(position)].name end
  return table.concat(names, "|")
end)

timed("W5", function()
  local groups = items:query():groupBy(function(item) return item.name:match("^[^ ]*") end)
  local all = 0
  for _, group in ipairs(groups) do all = all + group:sum("valueInDollars") end
  return string.format("%d:%d:%d", #groups, groups.Fluffy:sum("valueInDollars"), all)
end)

-- The values are made beforehand; the commit is timed.
local function update(seed)
  local keys, values = W.updates(N, seed, W.count_percent(N))
  return function()
    items:transaction(function()
      for i = 1, #keys do items:item(keys[i]).valueInDollars = values[i] end
    end)
    return #keys
  end
end

timed("W6", update(W.seed.w6))
timed("W7", function() assert(items:saveChanges()) end)
timed("W8", update(W.seed.w8))

local keys, values = W.updates(N, W.seed.w10, 1000)
local latencies = {}
for i = 1, #keys do
  local key, value = keys[i], values[i]
  local start = date()
  items:transaction(function() items:item(key).valueInDollars = value end)
  latencies[i] = date() - start
end
table.sort(latencies)
report("W10n", #latencies)
report("W10p50", latencies[math.ceil(#latencies * 0.50)])
report("W10p99", latencies[math.ceil(#latencies * 0.99)])
finish()
