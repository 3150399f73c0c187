-- An old application's data: the objects of one class in its archive, as a table of CSV and of SQLite.
--
--   cubby --container :memory: --allow-write FOLDER run examples/jobs/old-application.lua ARCHIVE [CLASS FOLDER]
--
-- Without CLASS it prints the classes that the archive has. A field that holds another object gives that object's name.

local archive, class, folder = ...
assert(archive, "usage: cubby … run examples/jobs/old-application.lua ARCHIVE [CLASS FOLDER]")
local graph = assert(archiver.open(archive))

if not folder then
  local counts = {}
  for _, object in ipairs(graph:objects()) do
    local name = archiver.className(object)
    counts[name] = (counts[name] or 0) + 1
  end
  local names = {}
  for name in pairs(counts) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do print(counts[name], name) end
  return
end

local columns, isKnown = {}, {}
items:transaction(function()
  for _, object in ipairs(graph:objects(class)) do
    local fields = {}
    for key, value in pairs(object) do
      if key ~= "className" then
        fields[key] = type(value) == "table" and value.name or value
        if not isKnown[key] then columns[#columns + 1] = key end
        isKnown[key] = true
      end
    end
    items:createItem(fields)
  end
end)
assert(#columns > 0, "no object of the class " .. class)
table.sort(columns)
for _, extension in ipairs{ ".csv", ".sqlite" } do
  local count = assert(items:export(folder .. "/" .. class .. extension, { columns = columns }))
  print(count .. " rows in " .. class .. extension)
end
