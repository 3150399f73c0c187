-- Dates, data and reals within arrays and dictionaries stay what they are where a statement leaves them.
local function shown(value)
  local kind = math.type(value) or type(value)
  return kind
end
local function kinds(o) return shown(o.x), shown(o.d), shown(o.b), shown(o.l and o.l[1]), shown(o.f), o.q end
local original = { x = 3.0, d = date("2024-01-31"), b = data("x"), l = { data("y"), "eA==" }, f = 1e300 }
items:createItem{ name = "A", o = original }
local A = items:query("name == 'A'"):first()
sql("update items set o = json_set(o, '$.q', 1)")
print(A.o.x, A.o.d == original.d, A.o.b == original.b, A.o.l[1] == original.l[1], A.o.l[2], A.o.f, A.o.q)
-- expect: 3.0	true	true	true	eA==	1e+300	1

-- What is written anew is as it is written: an integer, a real, a text.
sql("update items set o = json_set(o, '$.x', 3, '$.y', 3.0, '$.d', '2024-02-01')")
print(math.type(A.o.x), math.type(A.o.y), A.o.d, A.o.b == original.b)
-- expect: integer	float	2024-02-01	true

-- The elements of an array, behind one that is gone or is new.
items:createItem{ name = "L", o = { date("2024-01-01"), date("2024-01-02"), data("z") } }
local L = items:query("name == 'L'"):first()
sql("update items set o = json_insert(json_remove(o, '$[0]'), '$[#]', 5) where name = 'L'")
print(L.o[1] == date("2024-01-02"), L.o[2] == data("z"), L.o[3], #L.o)
-- expect: true	true	5	3

-- Copies to other items, from them, and from parameters.
print(sql("insert into items(name, o) select name || '2', o from items"))
-- expect: 2
local A2 = items:query("name == 'A2'"):first()
print(A2.o.b == original.b, A2.o.l[1] == original.l[1], math.type(A2.o.y), A2.o.f)
-- expect: true	true	float	1e+300
sql("update items set o = (select o from items where name = 'L') where name = 'A2'")
print(A2.o[1] == date("2024-01-02"), A2.o[2] == data("z"))
-- expect: true	true
sql("insert into items(name, o) values(?, ?)", "P", original)
local P = items:query("name == 'P'"):first()
print(P.o.x, P.o.d == original.d, P.o.b == original.b)
-- expect: 3.0	true	true

-- A text that stands for two values is refused, and nothing is inserted.
items:createItem{ name = "B", o = { b = data("x") } }
items:createItem{ name = "C", o = { b = "eA==" } }
print((select(2, pcall(sql, "insert into items(name, o) select name || '3', o from items where name in ('B', 'C')"))))
-- expect: sql: o: {"b":"eA=="} is read of an item with dates or data in it, and of another with texts in their place: insert them by statements of their own
for _, name in ipairs{ "B", "C" } do
  sql("insert into items(name, o) select name || '3', o from items where name = ?", name)
  print(shown(items:query("name == '" .. name .. "3'"):first().o.b))
end
-- expect: userdata
-- expect: string

-- A real divides as a real.
print(sql("select o ->> 'y' / 2 as half, o ->> 'x' / 2 as whole from items where name = 'A'")[1].half)
-- expect: 1.5

-- What JSON does not have is named, and other columns are read.
items:createItem{ name = "N", itemKey = "k", n = { x = { 0 / 0 } } }
print(select(2, pcall(sql, "select count(n) from items")))
-- expect: sql: item k, field n: .x[1]: JSON has no nan: leave the column out
print(sql("select count(*) c from items where name = 'N'")[1].c)
-- expect: 1
print(select(2, pcall(sql, "select ?", { x = 1 / 0 })))
-- expect: sql: parameter 1: .x: JSON has no inf
