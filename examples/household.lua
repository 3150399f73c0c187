-- A household's inventory: creating, changing, asking, exporting.
--
--   cubby --container /tmp/household run examples/household.lua examples/data
--
-- It begins with the small inventory in the folder given (naming it is the consent to read it). All items that it makes
-- have the field `example`; it changes and removes no others, so that it may run in a container with items of your own.

local folder = assert(..., "usage: cubby --container DIR run examples/household.lua examples/data")
local example = "household"

items:transaction(function()
  for row in csv.rows(folder .. "/household.csv") do
    local item = items:createItem{
      name = row.name,
      serialNumber = row.serialNumber ~= "" and row.serialNumber or nil,
      valueInDollars = math.tointeger(tonumber(row.valueInDollars)) or 0,
      dateCreated = assert(date(row.dateCreated)),
      room = row.room,
      example = example,
    }
    if row.picture ~= "" then item.image = assert(image.open(folder .. "/pictures/" .. row.picture)) end
  end
end)
local ours = items:query("example == $example", { example = example })
print(ours:count() .. " things at home")
print(ours:where(function(item) return item.image end):count() .. " pictures")

-- An item of one's own, and one by chance.
local lamp = items:createItem{ name = "Reading Lamp", valueInDollars = 45, room = "Study", example = example }
lamp.tags = { "gift", "1925" }
local luck = items:randomItem()
luck.example = example
print(lamp.name, lamp.tags[1], luck.valueInDollars < 100)

-- A function can be a query, and so can a predicate.
local dear = ours:where(function(item) return item.valueInDollars >= 500 end):sorted("valueInDollars", "descending")
print("worth 500 dollars and more:")
for _, item in dear:each() do print(("  %5d  %s"):format(item.valueInDollars, item.name)) end

print("by room:")
for _, group in ipairs(ours:where("room != nil"):groupBy("room")) do
  print(("  %-12s %3d things, %6d dollars"):format(group.key, group.count, group:sum("valueInDollars")))
end

-- All or nothing: the error rolls the change back, and is raised again.
local ok = pcall(function()
  items:transaction(function()
    lamp.valueInDollars = 1000000
    error("that can't be right")
  end)
end)
print("rolled back:", not ok, lamp.valueInDollars)

-- Export what there is, for a spreadsheet.
local rows = {}
for _, item in ours:each() do
  rows[#rows + 1] = { name = item.name, room = item.room or "", value = item.valueInDollars }
end
local export = app.container.tmp .. "/inventory.csv"
assert(csv.write(export, rows, { columns = { "name", "room", "value" } }))
print("exported " .. #rows .. " rows")

-- Leave nothing behind.
fs.remove(export)
print("removed", ours:remove())
