-- Random operations on the store and on a plain Lua table that should be the same, compared all the time.
--   cubby --container DIR run model.lua SEED SECONDS [STEPS]
-- Goes on with what an earlier run left, so that reopening is among the operations.
math.randomseed(tonumber(arg[1]))
local random = math.random
local deadline = os.time() + tonumber(arg[2])
local most = tonumber(arg[3]) or math.huge
local fields = { "name", "serialNumber", "valueInDollars", "room", "weight", "tags", "data" }

local function text()
  local words = { "Fluffy", "Rusty", "Bär", "Łódź", "日本語の長い名前", "", "x", ("long "):rep(20) }
  local parts = {}
  for i = 1, random(1, 4) do parts[i] = words[random(#words)] end
  return table.concat(parts, " ")
end

local function value(field)
  if field == "valueInDollars" then return random(-(1 << 40), 1 << 40) end
  if field == "weight" then return random(4) > 1 and random(10000) / 8 or nil end
  if field == "tags" then return random(3) > 1 and { text(), random(100), { deep = text() } } or nil end
  if field == "data" then return random(3) > 1 and data(text() .. "\0\1\255") or nil end
  if field == "name" then return text() end
  return random(4) > 1 and text() or nil
end

local function same(a, b)
  if a == b then return true end
  if a == nil or b == nil then return false end
  if type(a) ~= "table" then return a == b or tostring(a) == tostring(b) and math.type(a) == math.type(b) end
  return json.encode(a) == json.encode(b)
end

local function record(item)
  local copy = { key = item.itemKey }
  for _, field in ipairs(fields) do copy[field] = item[field] end
  return copy
end

local model = {}
for i = 1, #items do model[i] = record(items[i]) end

local function check(thorough)
  assert(#items == #model, "the store has " .. #items .. " items, the model " .. #model)
  local function one(i)
    local item, should = items[i], model[i]
    assert(item.itemKey == should.key, "another item at " .. i)
    assert(items:item(should.key) == item, "an item that its key does not find")
    for _, field in ipairs(fields) do
      if not same(item[field], should[field]) then
        error(("item %d, %s: %s in the store, %s in the model"):format(
          i, field, tostring(item[field]), tostring(should[field])))
      end
    end
  end
  if thorough then
    for i = 1, #model do one(i) end
    local i = 0
    for position, item in items:each() do
      i = i + 1
      assert(position == i and item.itemKey == model[i].key)
    end
    -- What queries say against what a loop says.
    local limit, count, sum = random(-1000, 1 << 40), 0, 0
    for _, should in ipairs(model) do
      if should.valueInDollars > limit then count, sum = count + 1, sum + should.valueInDollars end
    end
    local query = items:query("valueInDollars > $limit", { limit = limit })
    assert(query:count() == count and query:sum("valueInDollars") == sum, "a query counts otherwise")
    local sorted = table.move(model, 1, #model, 1, {})
    table.sort(sorted, function(a, b)
      if a.name ~= b.name then return a.name < b.name end
      return a.key < b.key
    end)
    for i, item in ipairs(items:query():sorted("name"):sorted("itemKey"):all()) do
      assert(item.itemKey == sorted[i].key, "a query sorts otherwise")
    end
  elseif #model > 0 then
    for _ = 1, 3 do one(random(#model)) end
  end
end

local operations = {}
function operations.create()
  if #model > 20000 then return operations.set() end
  local given = { name = text(), valueInDollars = value("valueInDollars") }
  for _, field in ipairs { "serialNumber", "room", "weight", "tags", "data" } do given[field] = value(field) end
  local item = items:createItem(given)
  given.key = item.itemKey
  model[#model + 1] = given
end
function operations.set()
  if #model == 0 then return end
  local i, field = random(#model), fields[random(#fields)]
  local new = value(field)
  items[i][field] = new
  model[i][field] = new
end
function operations.remove()
  if #model == 0 then return end
  local i = random(#model)
  items:removeItem(items[i])
  table.remove(model, i)
end
function operations.move()
  if #model == 0 then return end
  local from, to = random(#model), random(#model)
  items:moveItem(from, to)
  table.insert(model, to, table.remove(model, from))
end
local names = { "create", "create", "create", "set", "set", "set", "set", "remove", "move" }
local function operate() operations[names[random(#names)]]() end

local function copy()
  local before = {}
  for i, should in ipairs(model) do
    before[i] = {}
    for key, held in pairs(should) do before[i][key] = held end
  end
  return before
end

local steps, saves, transactions, undone = 0, 0, 0, 0
repeat
  steps = steps + 1
  local kind = random(100)
  if kind <= 60 then
    for _ = 1, random(20) do operate() end
  elseif kind <= 75 then
    local before = random(2) == 1 and copy()
    transactions = transactions + 1
    local done = pcall(items.transaction, items, function()
      for _ = 1, random(15) do
        operate()
        if random(8) == 1 then
          local inner = random(2) == 1 and copy()
          pcall(items.transaction, items, function()
            for _ = 1, random(5) do operate() end
            if inner then error("inner") end
          end)
          if inner then model = inner end
        end
      end
      if before then error("outer") end
    end)
    assert(done == not before)
    if before then model = before end
  elseif kind <= 80 then
    timer.sleep(0)
    local before = copy()
    items:transaction(function()
      operate()
      operations.create()      -- so that there is something to take back
      model[#model].room = "undone"
      items[#items].room = "undone"
    end)
    local after = model
    assert(items:undo())
    undone = undone + 1
    model = before
    if random(2) == 1 then
      assert(items:redo())
      model = after
    end
  elseif kind <= 90 then
    -- A scripter's changes go on while the archive is written.
    local running = random(2) == 1
    local ticker = timer.every(0.001, function() if running then for _ = 1, random(5) do operate() end end end)
    assert(items:saveChanges())
    running = false
    ticker:cancel()
    saves = saves + 1
  elseif kind <= 94 then
    local limit = random(1 << 40)
    local query = items:query("valueInDollars < $limit AND name BEGINSWITH 'R'", { limit = limit })
    local new = random(1000)
    query:update { valueInDollars = new, room = "updated" }
    for _, should in ipairs(model) do
      if should.valueInDollars < limit and should.name:sub(1, 1) == "R" then
        should.valueInDollars, should.room = new, "updated"
      end
    end
  elseif kind == 95 and #model > 3000 then
    items:query("valueInDollars < 0"):remove()
    local kept = {}
    for _, should in ipairs(model) do if should.valueInDollars >= 0 then kept[#kept + 1] = should end end
    model = kept
  else
    timer.sleep(0)
  end
  check(random(20) == 1)
until os.time() >= deadline or steps >= most
check(true)
print(("%d steps, %d transactions, %d undone, %d saves, %d items: equal"):format(
  steps, transactions, undone, saves, #items))
