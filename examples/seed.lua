-- A first run: an empty store is seeded from a table in the bundle. Put household.csv into a folder of your own and run
--   cubby --bundle FOLDER run examples/seed.lua

if #items == 0 then
  local path = assert(bundle:path("household", "csv"), "household.csv is not in the bundle (--bundle FOLDER)")
  items:transaction(function()
    for row in csv.rows(path) do
      items:createItem{
        name = row.name, serialNumber = row.serialNumber, room = row.room,
        valueInDollars = math.tointeger(row.valueInDollars), dateCreated = assert(date(row.dateCreated)),
      }
    end
  end)
  print(("seeded %d items"):format(#items))
else
  print(("%d items are here already"):format(#items))
end
