-- Declared fields: what fits, what does not, and what the errors say.

local function denied(body, ...)
  local ok, message = pcall(body, ...)
  print(ok and "taken" or (tostring(message):gsub("^[%w%-]+%.lua:%d+: ", "")))
end

print(items:declare{ price = { kind = "real", least = 0, format = "money" }, sku = { kind = "string", unique = true } })
-- expect: true
local lamp = items:createItem{ name = "Lamp", price = 12, sku = 7 }
print(lamp.price, lamp.sku)
-- expect: 12.0	7
denied(function() lamp.price = "cheap" end)
-- expect: price is declared as a real: "cheap" is not one; give it another value, or declare it anew
denied(function() lamp.price = -1 end)
-- expect: price is declared as at least 0.0: -1.0 is less; give it another value, or declare it anew
denied(function() items:createItem{ name = "Bear", sku = "7" } end)
-- expect: sku is unique, and "7" is that of "Lamp" already: give it another value
denied(function() items:query("name = 'Lamp'"):update{ price = true } end)
-- expect: price is declared as a real: true is not one; give it another value, or declare it anew
print(#items)
-- expect: 1

-- An import: the cells become what is declared; a row that does not fit is rejected.
local path = app.container.tmp .. "/t.csv"
fs.write(path, "name,sku,price\nVase,0042,13\nBear,7,2\nBowl,8,n/a\n")
local seen = {}
local count, report = items:import(path, { onError = function(row, line, message)
  print(message)
  return "skip"
end })
-- expect: sku is unique, and "7" is that of "Lamp" already: give it another value
-- expect: price takes a number: "n/a" is not one
print(count, report.rejected, items[2].sku, items[2].price)
-- expect: 1	2	0042	13.0

-- Over items that do not fit nothing is declared.
lamp.width, items[2].width = "13.5", "wide"
local ok, err = items:declare{ width = "real" }
print(ok, err.code, err)
-- expect: nil	unfittingItems	2 items do not fit width, a real: "13.5" in "Lamp", "wide" in "Vase"; nothing was declared: change them, or convert what can be (convert = true)
ok, err = items:declare({ width = "real" }, { convert = true })
print(ok, err, lamp.width)
-- expect: nil	1 item does not fit width, a real: "wide" in "Vase"; nothing was declared	13.5
items[2].width = nil
print(items:declare({ width = "real" }, { convert = true }), lamp.width + 1)
-- expect: true	14.5

-- Undo knows it, and dry runs forget it.
local function declared()
  local names = {}
  for _, field in ipairs(items:fields()) do
    if field.declared and not ("name serialNumber valueInDollars dateCreated itemKey"):find(field.field, 1, true) then
      names[#names + 1] = field.field
    end
  end
  return table.concat(names, " ")
end
print(declared())
-- expect: price sku width
items:dryRun(function() items:declare{ room = "string" } end)
pcall(items.transaction, items, function() items:declare{ room = "string" } error("no") end)
print(declared())
-- expect: price sku width
print(items:declare{ width = false }, declared())
-- expect: true	price sku
items:declare{ { name = "zoo", kind = "any" }, { name = "art", kind = "string" } }
print(declared())
-- expect: price sku zoo art

-- What a declaration may not be.
denied(function() items:declare{ n = "int" } end)
-- expect: n cannot be declared so: "int" is not a kind; did you mean integer?
denied(function() items:declare{ n = { kind = "real", uniqe = true } } end)
-- expect: n cannot be declared so: unknown option 'uniqe'; did you mean unique?
denied(function() items:declare{ valueInDollars = "real" } end)
-- expect: valueInDollars cannot be declared so: every item has it, as an integer: its kind cannot be real
denied(function() items:declare{ copy = "string" } end)
-- expect: Item.copy is a method and cannot be a field: choose another name
denied(function() items:declare{ nothing = false } end)
-- expect: the field nothing is not declared
denied(function() items:declare{ [1] = "string" } end)
-- expect: the field 1 of the array is a table with a name and what is declared of it

-- Days: no time, no zone; money and patterns are how files and people see values.
items:declare{ bought = { kind = "date", format = "day" }, paid = { kind = "real", format = "money" },
  sold = { kind = "date", format = "dd.MM.yyyy" } }
lamp.bought, lamp.paid, lamp.sold = date("2024-02-29T17:30:00Z"), 12.5, date("2024-03-01")
print(tostring(lamp.bought), lamp.bought == date("2024-02-29"), lamp.bought.hour, lamp.bought.day)
-- expect: 2024-02-29	true	0	29
local there = lamp.bought:inZone("America/New_York")
print(there.year, there.month, there.day, there.hour)
-- expect: 2024	2	29	0
print(tostring(lamp.bought:add{ days = 1 }), tostring(lamp.bought + 86400), lamp.bought < date("2024-03-01"))
-- expect: 2024-03-01	2024-03-01	true
print(tostring(lamp.bought + 1), lamp.bought:format("EEEE", "Asia/Tokyo"))
-- expect: 2024-02-29 00:00:01 +0000	Thursday
print(json.encode({ lamp.bought }), (json.encode(lamp):match('"bought":%s*"[^"]*"')))
-- expect: ["2024-02-29"]	"bought":"2024-02-29"
lamp.bought = lamp.bought
print(tostring(lamp.bought))
-- expect: 2024-02-29
items:query("name == 'Lamp'"):export(path, { columns = { "name", "bought", "paid", "sold" } })
print((fs.read(path):gsub("\r\n", "|")))
-- expect: name,bought,paid,sold|Lamp,2024-02-29,12.50,01.03.2024|
fs.write(path, "name,bought,paid,sold\nDesk,2024-01-31,7.50,02.03.2024\nRug,2024-01-31,7.125,2024-03-02\n")
items:import(path)
print(tostring(items[#items - 1].bought), items[#items - 1].paid, items[#items - 1].sold == items[#items].sold)
-- expect: 2024-01-31	7.5	true
-- Over dates with a time it is not declared, unless they are to be converted.
lamp.seen = date("2024-02-29T17:30:00Z")
print(items:declare{ seen = { kind = "date", format = "day" } })
-- expect: nil	1 item does not fit seen, a date, format day: the date 2024-02-29 17:30:00 +0000 in "Lamp"; nothing was declared: change them, or convert what can be (convert = true)
print(items:declare({ seen = { kind = "date", format = "day" } }, { convert = true }), tostring(lamp.seen))
-- expect: true	2024-02-29
denied(function() items:declare{ seen = { kind = "date", format = "bb" } } end)
-- expect: seen cannot be declared so: the format "bb": 'b' is not a field of a date (yyyy, MM, dd, HH, mm, ss, EEE, … ; text goes between apostrophes, and strftime's fields begin with %)

-- What a field is: in help, and in the order of an array. A name of any length takes a cell.
print(items:declare{ { name = "weight", kind = "real", desc = "with its shade" }, { name = "depth", kind = "real" } })
-- expect: true
local order = {}
for _, field in ipairs(items:fields()) do if field.field == "weight" or field.field == "depth" then order[#order + 1] = field.field end end
print(table.concat(order, " "))
-- expect: weight depth
help("weight")
-- expect: Item.weight: real
-- expect:   with its shade: a real.
help("Item.depth")
-- expect: Item.depth: real
-- expect:   A declared field: a real.
items[1][("n"):rep(1 << 20)] = 1
local long = 0
for line in tostring(items:fields()):gmatch("[^\n]+") do long = math.max(long, #line) end
print(long < 400)
-- expect: true
