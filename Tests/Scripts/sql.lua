-- SQL over items and files: rows, parameters, changes, functions, attached databases, failures.
local tmp = app.container.tmp .. "/"
items:declare{ price = "real" }
for name, row in pairs{
  Lamp = { "Attic", 65, 9.5 }, Chair = { "Kitchen", 40, 12.25 }, Desk = { "Attic", 2200 }, Rug = { nil, 300, 1 },
} do
  items:createItem{ name = name, room = row[1], valueInDollars = row[2], price = row[3] }
end

-- An array of rows, by column; NULL is nil.
local rows = sql("select room, count(*) n, sum(valueInDollars) total from items group by room order by total desc")
print(#rows, table.concat(rows.columns, " "))
-- expect: 3	room n total
for place, row in ipairs(rows) do print(place, row.room, row.n, row.total) end
-- expect: 1	Attic	2	2265
-- expect: 2	nil	1	300
-- expect: 3	Kitchen	1	40
for place, row in pairs(rows) do if place == 3 then print(row.room) end end
-- expect: Kitchen
print(rows[1].room, rows[0], rows[4], rows[1.0].n)
-- expect: Attic	nil	nil	2
print(rows)
-- expect:  #  room     n  total
-- expect:  1  Attic    2   2265
-- expect:  2  NULL     1    300
-- expect:  3  Kitchen  1     40
-- expect: 3 rows
print(select(2, pcall(function() rows[1] = {} end)):match("Rows.*"))
-- expect: Rows has no property or method '1'
print(math.type(sql("select 1 as a")[1].a), math.type(sql("select 1.0 as a")[1].a), #sql("select 1 where 0"))
-- expect: integer	float	0
print(table.concat(sql("select 1 as a, 2 as a, 3 as a").columns, " "), sql("select 1 as a, 2 as a")[1].a_2)
-- expect: a a_2 a_3	2

-- Parameters: in order, or by name.
local function names(rows)
  local list = {}
  for _, row in ipairs(rows) do list[#list + 1] = row.name end
  return table.concat(list, " ")
end
print(names(sql("select name from items where room = ? and valueInDollars > ? order by name", "Attic", 100)))
-- expect: Desk
print(names(sql("select name from items where room = $room order by name", { room = "Attic" })))
-- expect: Desk Lamp
print(names(sql("select name from items where room = :room or name = @name order by 1", { room = "Kitchen", name = "Rug" })))
-- expect: Chair Rug
print(sql("select ? is null as a, ? as b, typeof(?) as c, ? as d", nil, true, data("\0\1"), date("2024-02-29"))[1].d)
-- expect: 2024-02-29 00:00:00
print(sql("select ? ->> 'w' as w", { w = 5 })[1].w, sql("select $n is null as gone", { n = null })[1].gone)
-- expect: 5	1
print(select(2, pcall(sql, "select ?, ?", 1)))
-- expect: sql: the statement has 2 parameters, and 1 value is given
print(select(2, pcall(sql, "select 1", 1)))
-- expect: sql: the statement has 0 parameters, and 1 value is given
print(select(2, pcall(sql, "select $room", { rom = 1 })))
-- expect: sql: the statement has no parameter 'rom'; did you mean 'room'?
print(select(2, pcall(sql, "select $a, $b", { a = 1 })))
-- expect: sql: parameter $b has no value (null is NULL)
print((select(2, pcall(sql, "select ?", print)):gsub("userdata.*", "")))
-- expect: sql: parameter 1: a function is not a property-list value (string, number, boolean, date, data, array, dictionary)

-- One by one; a loop that is left ends its statement.
for row in sql.each("select name from items where room = $room order by name", { room = "Attic" }) do
  print(row.name)
  if row.name == "Desk" then break end
end
-- expect: Desk
local count = 0
for row in sql.each("with recursive n(i) as (select 1 union all select i + 1 from n) select i from n") do
  count = row.i
  if count == 1000 then break end
end
print(count, pcall(sql.each, "delete from items"))
-- expect: 1000	false	bad argument #1 'text' to 'sql.each' (a statement with rows expected: sql(…) runs one that changes)
local next = sql.each("select 1 as a")
print(next().a, next(), next())
-- expect: 1	nil	nil

-- Changes: the number of items, one step of undo.
print(sql("update items set valueInDollars = valueInDollars * 2 where room = ?", "Attic"), #sql("select * from items where valueInDollars = 4400"))
-- expect: 2	1
print(sql("insert into items(name, room) values ('Vase', 'Hall'), ('Globe', 'Hall')"), sql("delete from items where room = 'Hall'"), #items)
-- expect: 2	2	4
items:transaction(function() sql("update items set room = 'Cellar'") end)
items:undo()
print(#items:query("room == 'Cellar'"), #items:query("room == 'Attic'"))
-- expect: 0	2
local diff = items:dryRun(function() sql("delete from items") end)
print(#diff.removed, #items)
-- expect: 4	4
print(select(2, pcall(sql, "update items set valueInDollars = 'much'")):match("valueInDollars takes an integer"))
-- expect: valueInDollars takes an integer

-- Functions of the script.
sql.define("discount", function(price, percent) return price and price * (100 - percent) / 100 end)
print(sql("select discount(200, 10) as a, discount(null, 10) as b")[1].a, sql("select discount(null, 10) as b")[1].b)
-- expect: 180.0	nil
sql.define("broken", function() error("out of order", 0) end)
print(pcall(sql, "select broken()"))
-- expect: false	out of order
sql.define("waiting", function() coroutine.yield() end)
print(coroutine.wrap(function() return pcall(sql, "select waiting()") end)())
-- expect: false	the function waiting of sql.define cannot yield: the statement waits for its result
sql.define("within", function(room) return sql("select count(*) n from items where room = ?", room)[1].n end)
print(sql("select within('Attic') as n")[1].n)
-- expect: 2
sql.define("broken", nil)
print((select(2, pcall(sql, "select broken()")):match("no such function: broken")))
-- expect: no such function: broken

-- Databases.
local db = assert(sqlite.open(tmp .. "shop.sqlite"))
db:execute("create table prices(name text, price real)")
db:execute("insert into prices values ('Lamp', 70), ('Chair', 35)")
db:close()
sql.attach("shop", tmp .. "shop.sqlite")
print(names(sql("select items.name from items join shop.prices p on p.name = items.name order by p.price")))
-- expect: Chair Lamp
sql.detach("shop")
print((select(2, pcall(sql, "select * from shop.prices")):match("no such table: shop.prices")))
-- expect: no such table: shop.prices
print(select(2, pcall(sql.attach, "other", tmp .. "none/other.sqlite")).code)
-- expect: 2
-- A misspelt path makes no database.
print(select(2, pcall(sql.attach, "other", tmp .. "typo.sqlite")).code, (fs.read(tmp .. "typo.sqlite")))
-- expect: 2	nil

-- Files of rows.
local path = tmp .. "rows.csv"
print(sql("select name, room, price from items order by name"):export(path), fs.read(path) == "name,room,price\r\nChair,Kitchen,12.25\r\nDesk,Attic,\r\nLamp,Attic,9.5\r\nRug,,1.0\r\n")
-- expect: 4	true
sql("select room, price from items where name = 'Rug'"):export("-", { format = "jsonl" })
-- expect: {"room":null,"price":1.0}
sql("select name, price from items where price > 5 order by 1"):export("-", { format = "markdown" })
-- expect: | name | price |
-- expect: | --- | ---: |
-- expect: | Chair | 12.25 |
-- expect: | Lamp | 9.5 |
print(select(2, pcall(rows.export, rows, tmp .. "rows.xlsx")):match("names no format of rows"))
-- expect: names no format of rows
print(select(2, pcall(rows.export, rows, "/proc/none/rows.csv")).domain)
-- expect: NSPOSIXErrorDomain
print(select(2, pcall(rows.export, sql("select 9e999 as a"), "-", { format = "json" })).message)
-- expect: row 1, column a: JSON has no inf: nan = "null" writes null (on the command line --nan null)

-- Tables of files; a path in a statement is no consent.
print(sql("select count(*) n from csv('" .. path .. "') where room = 'Attic'")[1].n)
-- expect log: rows.csv: price real; other columns are text
-- expect: 2
print(select(2, pcall(sql, "select * from csv('/etc/passwd')")).code)
-- expect: 13

-- Mistakes have their place and a hint.
print(select(2, pcall(sql, "select nmae from items")):match("sql: (.*)"))
-- expect: no such column: nmae; did you mean 'name'? (column 8)
-- expect:     select nmae from items
-- expect:            ^
print(select(2, pcall(sql, "select name\nform items")):match("line 2"))
-- expect: line 2
print(select(2, pcall(sql, "select 1; select 2")):match("one statement"))
-- expect: one statement
print((pcall(sql, "create table t(x)")), (pcall(sql, "pragma user_version = 2")), (pcall(sql, "attach 'x' as y")))
-- expect: false	false	false
print(sql.explain("select name from items where room = 'Attic'"):match("items"))
-- expect: items
-- What is longer than a statement is refused before it is read.
local long = "select " .. ("1,"):rep(500000) .. "1"
for _, call in ipairs { sql, sql.each, sql.explain } do
    print(select(2, pcall(call, long)):match("a statement has at most 1,000,000 bytes, and this one has 1,000,008"))
end
-- expect: a statement has at most 1,000,000 bytes, and this one has 1,000,008
-- expect: a statement has at most 1,000,000 bytes, and this one has 1,000,008
-- expect: a statement has at most 1,000,000 bytes, and this one has 1,000,008
print(select(2, pcall(sql.attach, ("a"):rep(1001), "x")):match("901 more bytes.* is not a name for a database"):sub(-28))
-- expect: is not a name for a database

-- NaN would become NULL.
print((select(2, pcall(sql, "select ?", 0 / 0))))
-- expect: sql: parameter 1: NaN is not a number that SQLite has, and would become NULL
sql.define("undefined", function() return 0 / 0 end)
print(select(2, pcall(sql, "select undefined()")):match("sql: (.*)"))
-- expect: NaN is not a number that SQLite has, and would become NULL
