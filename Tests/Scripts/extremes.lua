-- Truth values are a kind of their own in min and max, as in sum.
for i, v in ipairs{ 5, -5, true } do items:createItem{ name = "n" .. i, x = v, y = v == true or i == 1 } end
local all = items:query()
print(all:min("x"), all:max("x"), all:sum("x"), all:median("x"), all:aggregate({ m = "min(x)" }).m)
-- expect: -5	5	0	0.0	-5
-- expect log: min(x) left out 1 item whose x is a truth value
-- expect log: max(x) left out 1 item whose x is a truth value
-- expect log: sum(x) left out 1 item whose x is a truth value
-- expect log: median(x) left out 1 item whose x is a truth value
-- expect log: min(x) left out 1 item whose x is a truth value
print(all:min("y"), all:max("y"))
-- expect: false	true
print(items:query("x == TRUE"):count(), items:query("x > 0"):count(), pcall(items.query, items, "x == 'a'") == false)
-- expect: 1	2	true
-- Integers beyond 64 bits convert as a declaration converts them.
for _, kind in ipairs{ "string", "integer", "real", "number" } do
  items:createItem{ name = kind, [kind .. "s"] = plist.integer("18446744073709551616") }
  print(kind, items:convert(kind .. "s", kind))
end
-- expect: string	1
-- expect: integer	0
-- expect: real	1
-- expect: number	0
print(items:query("name == 'string'"):first().strings, items:query("name == 'real'"):first().reals == 2.0 ^ 64)
-- expect: 18446744073709551616	true
