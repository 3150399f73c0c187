-- SQLite databases: statements, values, transactions; items from tables and into them.
local tmp = app.container.tmp .. "/"
local path = tmp .. "a.sqlite"
local db = assert(sqlite.open(path))
print(db, db:execute("create table things(id integer primary key, name text, price real, day date, on_view boolean, raw blob)"))
-- expect: Database	0
local insert = "insert into things(name, price, day, on_view, raw) values(?, ?, ?, ?, ?)"
print(db:execute(insert, { "Lamp", 9.5, date("2001-02-03"), true, data("\0\1") }))
-- expect: 1
print(db:execute("insert into things(name, price) values(:name, :price)", { name = "Bear", price = 12 }))
-- expect: 1
for row in db:rows("select * from things where price > ? order by price desc", { 1 }) do
  print(row.id, row.name, row.price, row.day, row.on_view, row.raw and #row.raw)
end
-- expect: 2	Bear	12.0	nil	nil	nil
-- expect: 1	Lamp	9.5	2001-02-03T00:00:00Z	1	2
print(math.type(db:rows("select 1 as n")().n), db:rows("select null as n")().n)
-- expect: integer	nil

-- All or nothing.
print(pcall(db.transaction, db, function()
  db:execute("delete from things")
  error("no", 0)
end))
-- expect: false	no
print(db:transaction(function() return db:execute("update things set on_view = 0 where id = 2"), "done" end))
-- expect: 1	done
print(db:rows("select count(*) as n from things")().n)
-- expect: 2

-- A statement's faults raise; what the database refuses is returned.
print(pcall(db.execute, db, "selec 1"))
-- expect: false	near "selec": syntax error
print((pcall(db.rows, db, "select * from nowhere")))
-- expect: false
local none, err = db:execute("insert into things(id) values(1)")
print(none, err.domain, err.code, err.message)
-- expect: nil	SQLite	constraint	UNIQUE constraint failed: things.id
print(select(2, pcall(db.execute, db, "select ?", { 1, 2 })))
-- expect: bad argument #2 'parameters' to 'Database:execute' (the statement has 1 parameters, and there is a value for number 2)
print(select(2, pcall(db.execute, db, "select :a", { b = 2 })))
-- expect: bad argument #2 'parameters' to 'Database:execute' (the statement has no parameter 'b')
print(select(2, pcall(db.execute, db, "select ?", { "\xff" })))
-- expect: bad argument #2 'parameters' to 'Database:execute' (parameter 1 is not UTF-8 text: data(…) holds other bytes)
print(select(2, pcall(db.execute, db, "select ?", { print })):match("is not a value of a database"))
-- expect: is not a value of a database

-- The sandbox: other files are closed, whoever asks for them.
print((select(2, pcall(db.execute, db, "attach '/etc/passwd' as other")):match("^not authorized")))
-- expect: not authorized
print(select(2, sqlite.open("/etc/other.sqlite")).code, select(2, sqlite.open(app.container.path .. "/.lock")).code)
-- expect: 13	13
print(select(2, sqlite.open(tmp .. "none.sqlite", { readOnly = true })).code, fs.exists(tmp .. "none.sqlite"))
-- expect: 2	false
assert(fs.write(tmp .. "text.sqlite", ("no database "):rep(500)))
print(select(2, sqlite.open(tmp .. "text.sqlite")).code)
-- expect: notADatabase
local reading = assert(sqlite.open(path, { readOnly = true }))
print(select(2, reading:execute("delete from things")).code)
-- expect: readOnly
reading:close()
print(reading, pcall(reading.execute, reading, "select 1"))
-- expect: Database (closed)	false	the database is closed

-- A database that another connection has locked is waited for, and told then.
local other = assert(sqlite.open(path))
db:transaction(function()
  print(select(2, other:execute("delete from things")).code)
end)
-- expect: busy
other:close()

-- Items from a table.
local function tell(count, report)
  if count then return print(count, report) end
  print(report.code, (report.message:sub(#tmp + 1)))
end
tell(items:import(path, { map = { id = false, day = "dateCreated" }, key = "name", update = true }))
-- expect: 2	2 created, 0 updated, 0 unchanged, 0 rejected
print(items[1].name, items[1].price, items[1].dateCreated, items[1].on_view, items[1].raw, items[2].on_view)
-- expect: Lamp	9.5	2001-02-03 00:00:00 +0000	true	<2 bytes: 0001>	false
tell(items:import(path, { map = { id = false, day = "dateCreated" }, key = "name", update = true }))
-- expect: 0	0 created, 0 updated, 2 unchanged, 0 rejected
tell(items:import(path, { table = "thing" }))
-- expect: unreadableFile	a.sqlite has no table 'thing'; did you mean 'things'?
db:execute("create table more(name)")
tell(items:import(path))
-- expect: unreadableFile	a.sqlite has several tables and views (more, things): give one, such as table = "more"
db:execute("insert into more values('ok'), (5)")
tell(items:import(path, { table = "more", dryRun = true }))
-- expect: 2	2 created, 0 updated, 0 unchanged, 0 rejected
tell(items:import(tmp .. "text.sqlite"))
-- expect: unreadableFile	text.sqlite: file is not a database
db:close()

-- Items into a table, and back.
items[1].tags = { "a", "b" }
print(items:query():sorted("name"):export(tmp .. "out.sqlite", { columns = { "name", "price", "on_view", "tags", "itemKey", "dateCreated" } }))
-- expect: 2
db = assert(sqlite.open(tmp .. "out.sqlite"))
for row in db:rows("select sql from sqlite_master") do print(row.sql) end
-- expect: CREATE TABLE "items"("name" TEXT, "price" REAL, "on_view" BOOLEAN, "tags" , "itemKey" TEXT, "dateCreated" DATETIME)
for row in db:rows("select name, price, on_view, tags, length(itemKey) as k from items") do print(row.name, row.price, row.on_view, row.tags, row.k) end
-- expect: Bear	12.0	0	nil	36
-- expect: Lamp	9.5	1	["a","b"]	36
db:close()
tell(items:import(tmp .. "out.sqlite", { key = "itemKey", update = true, map = { tags = false } }))
-- expect: 0	0 created, 0 updated, 2 unchanged, 0 rejected
print(items:export(tmp .. "out.sqlite", { table = "all \"things\"" }), #fs.list(tmp))
-- expect: 2	3
print(select(2, pcall(items.export, items, "-", { format = "sqlite" })))
-- expect: bad argument #1 'path' to 'items:export' (a SQLite database is a file, and no stream of bytes)

-- SQLite's own dates in columns declared as dates; what is none stays what it is, and is counted.
db = assert(sqlite.open(tmp .. "dates.sqlite"))
db:execute("create table t(name text, d date, dt datetime)")
db:execute("insert into t values('A', '2024-01-31', '2024-01-31 10:00'), ('B', 'soon', 1706695200)")
db:close()
local count, report = items:import(tmp .. "dates.sqlite")
local a, b = items[#items - 1], items[#items]
print(count, a.d, a.dt, b.d, b.dt)
-- expect: 2	2024-01-31 00:00:00 +0000	2024-01-31 10:00:00 +0000	soon	2024-01-31 10:00:00 +0000
print(report.otherKinds, report.remarks[1])
-- expect: 1	1 value of d is not of the declared kind date, and kept as it is (row 2: "soon")

-- Days are declared as DATE, and come back as days; a DATETIME at midnight is a moment.
db = assert(sqlite.open(tmp .. "days.sqlite"))
db:execute("create table t(name text, born date, seen datetime)")
db:execute("insert into t values('Days', '2024-02-29', '2024-02-29')")
db:close()
assert(items:import(tmp .. "days.sqlite"))
local last = items[#items]
print(last.born, last.seen)
-- expect: 2024-02-29	2024-02-29 00:00:00 +0000
items:query("name == 'Days'"):export(tmp .. "again.sqlite", { columns = { "name", "born", "seen" } })
db = assert(sqlite.open(tmp .. "again.sqlite"))
print(db:rows("select sql from sqlite_master")().sql)
-- expect: CREATE TABLE "items"("name" TEXT, "born" DATE, "seen" DATETIME)
print(db:rows("select born, seen from items")().born)
-- expect: 2024-02-29
db:close()

-- Columns of one name are numbered, as sql has them.
do
  local db <close> = setmetatable({ db = assert(sqlite.open(tmp .. "names.sqlite")) }, { __close = function(self) self.db:close() end })
  for _, text in ipairs{ "create table a(id, name)", "create table b(id, name, id_2)", "insert into a values(1, 'A')", "insert into b values(7, 'B', 9)" } do
    db.db:execute(text)
  end
  for row in db.db:rows("select * from a join b") do print(row.id, row.id_3, row.id_2, row.name, row.name_2) end
end
-- expect: 1	7	9	A	B
