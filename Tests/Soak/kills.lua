-- One session of the kill trials: random changes, each announced on standard output before it is made and acknowledged
-- when it is committed. The harness, kills.py, kills it at some moment and compares what the next session finds.
--   cubby --container DIR run kills.lua SEED
math.randomseed(tonumber(arg[1]))
local random = math.random

local function say(kind, value)
  io.write(kind, " ", json.encode(value), "\n")
  io.stdout:flush()
end

local keys = {}
for i = 1, #items do keys[i] = items[i].itemKey end
local created = 0

local function text()
  local words = { "Fluffy", "Rusty", "Bär", "Łódź", "a\"b\\c", "日本", "", "x" }
  local parts = {}
  for i = 1, random(1, 5) do parts[i] = words[random(#words)] end
  return table.concat(parts, " ")
end

-- Each operation: what the model is to do, and the doing.
local function create()
  created = created + 1
  local fields = {
    itemKey = ("key-%s-%d"):format(arg[1], created), name = text(), valueInDollars = random(-1000, 1000),
    room = random(3) == 1 and text() or nil, tags = random(5) == 1 and { "a", random(9), text() } or nil,
  }
  keys[#keys + 1] = fields.itemKey
  return { "create", fields }, function() items:createItem(fields) end
end

local function change()
  local key = keys[random(#keys)]
  local field = ({ "name", "valueInDollars", "room", "serialNumber" })[random(4)]
  local value
  if field == "valueInDollars" then value = random(1000000) else value = text() end
  return { "set", key, field, value }, function() items:item(key)[field] = value end
end

local function remove()
  local position = random(#keys)
  local key = table.remove(keys, position)
  return { "remove", key }, function() items:removeItem(items:item(key)) end
end

local function move()
  local from, to = random(#keys), random(#keys)
  table.insert(keys, to, table.remove(keys, from))
  return { "move", from, to }, function() items:moveItem(from, to) end
end

local function operation()
  local kind = random(10)
  if #keys < 3 or kind <= 3 then return create() end
  if kind <= 7 then return change() end
  if kind == 8 then return remove() end
  return move()
end

local step = 0
local function announce(plan)
  step = step + 1
  say("step", plan)
end

local function many(count)
  local plan, doings = {}, {}
  for i = 1, count do plan[i], doings[i] = operation() end
  announce(plan)
  return doings
end

local function run(doings) for _, doing in ipairs(doings) do doing() end end

local function import()
  local rows, plan = {}, {}
  for i = 1, random(1, 40) do
    local operation = create()
    operation[2].tags, operation[2].room = nil, nil
    plan[i], rows[i] = operation, operation[2]
  end
  announce(plan)
  local path = app.container.tmp .. "/import.csv"
  csv.write(path, rows, { columns = { "itemKey", "name", "valueInDollars" } })
  local imports, err = pcall(function() return items.import end)
  if imports then
    assert(items:import(path))
  else
    items:transaction(function()
      for row in csv.rows(path) do
        row.valueInDollars = math.tointeger(tonumber(row.valueInDollars))
        items:createItem(row)
      end
    end)
  end
end

say("ready", #keys)
while true do
  local kind = arg[2] and 16 or random(20)
  if kind <= 9 then
    local doings = many(random(1, 12))
    items:transaction(function() run(doings) end)
  elseif kind <= 12 then
    local doings = many(random(1, 6))
    run(doings)
    timer.sleep(0)             -- a wait commits
  elseif kind == 13 then
    -- A transaction that fails changes nothing.
    announce({})
    local before = table.move(keys, 1, #keys, 1, {})
    local doings = {}
    for i = 1, random(5) do local _, doing = operation() doings[i] = doing end
    keys = before
    pcall(items.transaction, items, function() run(doings) error("no") end)
  elseif kind == 14 then
    import()
  elseif kind == 15 then
    local doings = many(random(1, 3))
    local done = false
    timer.after(0, function() run(doings) done = true end)
    while not done do timer.sleep(0.0005) end
  elseif kind == 16 and arg[2] then
    -- Enough for an archive that is mapped.
    local plan, doings = {}, {}
    for i = 1, tonumber(arg[2]) do plan[i], doings[i] = create() end
    announce(plan)
    items:transaction(function() run(doings) end)
    arg[2] = nil
  else
    announce({})
    local change = random(2) == 1
    if change then
      -- Changes that come while the archive is written.
      timer.after(0, function() say("saving", step) end)
    end
    assert(items:saveChanges())
  end
  say("ack", step)
end
