-- Pictures of items' values: what is chosen, what is drawn and said, and what a script can save.

local rooms = { "Study", "Attic", "Study", "Bath", "Study", "Attic" }
for number, room in ipairs(rooms) do
  items:createItem{
    name = "Item " .. number, valueInDollars = number * 10, room = room, weight = number / 2,
    bought = date(string.format("2024-%02d-01", number)),
  }
end
items:createItem{ name = "Gift", valueInDollars = 5, weight = "heavy" }

local function failure(body)
  local ok, message = pcall(body)
  print(ok and "fine" or (tostring(message):gsub("^[%w%-]+%.lua:%d+: ", "")))
end

local plot = items:query():plot{ x = "room", y = "valueInDollars" }
print(tostring(plot))
-- expect: bar plot: sum of valueInDollars by room (6 items)
print(plot.kind, plot.title, #plot.remarks, plot.remarks[1])
-- expect: bar	sum of valueInDollars by room	1	1 item without room left out
print(plot)
-- expect: sum of valueInDollars by room
-- expect: Study │█████████████████████████████████████████████████████████████████████ $90
-- expect: Attic │█████████████████████████████████████████████████████████████▍ $80
-- expect:  Bath │██████████████████████████████▋ $40
-- expect: 1 item without room left out
print(items:query():plot{ x = "bought", y = "valueInDollars" }.kind)
-- expect: line
print(items:query():plot{ x = "bought" }.kind, items:query():plot{ x = "name" }.kind)
-- expect: histogram	bar
print(items:query():plot{ x = "weight", y = "valueInDollars" }.kind)
-- expect: scatter
print(table.concat(items:query():plot{ x = "weight * 2", y = "valueInDollars", kind = "line" }.remarks, "; "))
-- expect: 1 item without weight * 2 left out
print(items:query():plot():text{ height = 10 })
-- expect: histogram of valueInDollars
-- expect: 5 ┤████████
-- expect:   │████████
-- expect:   │████████
-- expect:   │████████▃▃▃▃▃▃▃▃
-- expect:   │████████████████
-- expect:   │████████████████
-- expect: 0 ┼┬───────┬───────┬────────────────────────────────────────────────────────────
-- expect:    $0     $50    $100
-- expect: columns were chosen: plot{ x =, y =, kind = } draws others
-- expect:
print((items:query():plot{ kind = "line" }).title)
-- expect: valueInDollars by bought

-- Groups.
print(items:query("room != nil"):groupBy("room"):plot{ order = "value" }:text{ width = 40 })
-- expect: count by room
-- expect: Study │███████████████████████████████ 3
-- expect: Attic │████████████████████▋ 2
-- expect:  Bath │██████████▍ 1
-- expect:
print(items:query():groupBy("room"):plot{ y = "valueInDollars" }.title)
-- expect: sum of valueInDollars by room
print(items:query():groupBy("bought"):plot().kind)
-- expect: line

-- Files.
local folder = app.container.tmp
print(plot:save(folder .. "/plot.svg"))
-- expect: true
print((fs.read(folder .. "/plot.svg"):match("^<svg [^>]*width=\"(%d+)\"")))
-- expect: 800
print(plot:save(folder .. "/plot.PNG", { width = 300, height = 200 }))
-- expect: true
print(image.open(folder .. "/plot.PNG").width)
-- expect: 300
local ok, err = plot:save(folder .. "/none/plot.svg")
print(ok, err.code)
-- expect: nil	2

-- Mistakes.
failure(function() plot:save("plot.gif") end)
-- expect: bad argument #1 'path' to 'Plot:save' (the extension of 'plot.gif' names no picture: write .svg or .png)
failure(function() plot:save(folder .. "/plot.svg", { width = 9 }) end)
-- expect: bad argument #2 'options' to 'Plot:save' (option 'width': 200 to 8192 expected, got 9)
failure(function() items:query():plot{ x = "rom" } end)
-- expect: no item has a field rom: did you mean room?
failure(function() items:query():plot{ x = "room", kind = "line", y = "weight" } end)
-- expect: bad argument #1 'options' to 'Query:plot' (option 'x': 'room' has texts, and a line plot needs numbers or dates: kind = "bar" counts them)
failure(function() items:query():plot{ x = "valueInDollars", y = "room" } end)
-- expect: bad argument #1 'options' to 'Query:plot' (option 'y': 'room' has texts, and y needs numbers: exchange x and y)
failure(function() items:query():plot{ kind = "pie" } end)
-- expect: bad argument #1 'options' to 'Query:plot' (option 'kind': "bar" or "line" or "histogram" or "scatter" expected, got "pie")

-- Rows of a statement.
local rows = sql("select 'Attic' room, 3 n union all select 'Study', 1")
print(rows:plot().title, rows:plot().kind, rows:plot{ x = "n", kind = "histogram" }.title)
-- expect: n by room	bar	histogram of n
print(sql("select '2024-01-31' day, 3 n union all select '2024-02-29', 1"):plot().kind)
-- expect: line
failure(function() rows:plot{ x = "rom" } end)
-- expect: bad argument #1 'options' to 'Rows:plot' (the rows have no column 'rom'; did you mean 'room'?)

-- Nothing.
items:query():remove()
print(items:query():plot())
-- expect: histogram of valueInDollars
-- expect: nothing to draw
