-- A museum's objects: imported once, kept, and asked about.
--
--   cubby --container /tmp/museum run examples/museum.lua CSV [IMAGES]
--
-- CSV has the columns title, accession_number and date_acquired, and any others, which become custom fields.
-- Each picture in the folder IMAGES is attached to an item.

local csvPath, imageFolder = ...
assert(csvPath, "usage: cubby run examples/museum.lua CSV [IMAGES]")

-- The columns that are fields of the domain; every other column keeps its name.
local columns = { title = "name", accession_number = "serialNumber" }

app:on("didEnterBackground", { id = "museum.farewell" }, function()
  log.info("going away with " .. #items .. " items")
end)

local function importObjects(path)
  local total = 0
  for _ in csv.rows(path) do total = total + 1 end
  local bar = progress(total, "importing")
  items:transaction(function()
    for row in csv.rows(path) do
      local fields = {}
      for column, cell in pairs(row) do
        if column == "date_acquired" then
          fields.dateCreated = cell ~= "" and assert(date(cell)) or nil
        end
        fields[columns[column] or column] = cell
      end
      items:createItem(fields)
      bar:advance()
    end
  end)
  bar:finish()
end

local function attachPictures(folder)
  local position = 0
  for _, name in ipairs(fs.list(folder)) do
    local picture = image.open(folder .. "/" .. name)
    if picture and position < #items then
      position = position + 1
      items[position].image = picture
      print(("attached %s to %s"):format(name, items[position].name))
    end
  end
end

if #items == 0 then
  importObjects(csvPath)
  if imageFolder then attachPictures(imageFolder) end
end
print(#items .. " items, " .. #images:keys() .. " pictures")

print("\nobjects by department")
for _, group in ipairs(items:query():groupBy("department")) do
  print(("  %6d  %s"):format(group.count, group.key))
end

print("\nthe ten oldest acquisitions")
for _, item in items:query("date_acquired != ''"):sorted("dateCreated"):sorted("serialNumber"):limit(10):each() do
  print("  " .. item.dateCreated:format("%Y-%m-%d") .. "  " .. item.name)
end

app:pressHome()
