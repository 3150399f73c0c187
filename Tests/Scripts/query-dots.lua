-- A name with points is the part of a field where the first name is one, and else the field of the whole name.
local A = items:createItem{ name = "A", dims = { w = 5 } }
A["dims.w"] = 100
A["price.eur"] = 7
A["a.b.c"] = { d = 2 }
local all = items:query()
print(items:query("dims.w == 5"):count(), all:sum("dims.w"), all:sum("dims.w + 0"), all:max("dims.w"))
-- expect: 1	5	5	5
print(all:distinct("dims.w")[1], all:groupBy("dims.w")[1].key, all:aggregate({ s = "sum(dims.w)" }).s, all:sorted("dims.w"):count())
-- expect: 5	5	5	1
print(items:query("SELF['dims.w'] == 100"):count(), all:sum("SELF['dims.w']"), all:max("SELF['dims.w']"))
-- expect: 1	100	100
print(items:query("price.eur > 5"):count(), all:sum("price.eur"), all:sum("price.eur * 2"), all:aggregate({ m = "max(price.eur)" }).m)
-- expect: 1	7	14	7
print(items:query("a.b.c.d == 2"):count(), all:sum("a.b.c.d"), all:aggregate({ c = "count(a.b.c.d > 1)" }).c)
-- expect: 1	2	1
print((tostring(select(2, pcall(items.query, items, "price.usd > 5"))):match("[^\n]*")))
-- expect: predicate: no item has a field price; did you mean price.eur? (column 1)
local path = app.container.tmp .. "/dots.csv"
items:export(path, { columns = { "name", "dims.w", "price.eur", "a.b.c.d" } })
print((fs.read(path):gsub("\r\n", ";")))
-- expect: name,dims.w,price.eur,a.b.c.d;A,5,7,2;
items:export(path, { columns = { "SELF['dims.w']" } })
print((fs.read(path):gsub("\r\n", ";")))
-- expect: dims.w;100;
-- All fields have their own names in JSON.
print(json.encode(A):match('"dims".-}'), json.encode(A):match('"dims%.w":%d+'))
-- expect: "dims":{"w":5}	"dims.w":100
