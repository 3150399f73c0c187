-- Prints what a container holds, for a comparison with what the program that made it printed.
for place, item in items:each() do
  local names = item:fields()
  table.sort(names)
  local fields = {}
  for _, name in ipairs({ "name", "serialNumber", "valueInDollars", "dateCreated", table.unpack(names) }) do
    fields[#fields + 1] = name .. "=" .. json.encode({ item[name] })
  end
  local pictures = {}
  for _, picture in ipairs(item.images) do pictures[#pictures + 1] = data(picture:jpegData()):hash():sub(1, 8) end
  print(place, item.itemKey, table.concat(fields, " "), table.concat(pictures, " "))
end
local indexes = items.indexes
table.sort(indexes)
print("indexes", table.concat(indexes, " "))
print("greeting", defaults:get("greeting"), "launches", rawget(_G, "launches"))
