-- Run by exchange.py: FOLDER STEP. Prints the step's seconds by the clock on the wall.
local folder, step = arg[1], arg[2]
local columns = { "accession_number", "name", "medium", "creators", "department", "classification", "credit", "acquired", "width", "height" }
local again = { key = "accession_number", update = true }
local steps = {
  text = function() return items:import(folder .. "/rows.csv", { types = "text" }) end,
  csv = function() return items:import(folder .. "/rows.csv") end,
  again = function() return items:import(folder .. "/rows.csv", again) end,
  jsonl = function() return items:export(folder .. "/out.jsonl", { columns = columns }) end,
  sqliteOut = function() return items:export(folder .. "/out.sqlite", { columns = columns }) end,
  sqlite = function() return items:import(folder .. "/out.sqlite") end,
  flights = function() return items:import(folder .. "/flights.csv", { null = "NA" }) end,
  flightsRow = function()
    return items:import(folder .. "/flights.csv", { null = "NA", transform = function(row) return row end })
  end,
  -- The carriers' names joined, and the delays by carrier and by origin and month.
  flightsJob = function()
    local names = {}
    for row in csv.rows(folder .. "/airlines.csv") do names[row.carrier] = row.name end
    assert(items:import(folder .. "/flights.csv", {
      null = "NA",
      transform = function(row) row.airline = names[row.carrier] return row end,
    }))
    local airlines = items:query():groupBy("airline"):aggregate{
      n = "count()", departure = "average(dep_delay)", arrival = "average(arr_delay)",
    }
    local months = items:query():groupBy("origin", "month"):aggregate{ n = "count()", air = "average(air_time)" }
    assert(#airlines == 16 and #months == 36)
    return true
  end,
}
local function run(name)
  local begin = date()
  assert(steps[name]())
  print(name, date() - begin)
end
run(step)
if step == "csv" then
  for _, name in ipairs{ "again", "jsonl", "sqliteOut" } do run(name) end
end
