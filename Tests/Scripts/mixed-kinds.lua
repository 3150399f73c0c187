-- What a query leaves out because of its kind is said, once for each answer.
for _, n in ipairs{ 3, 7, 9, "n/a", "-" } do items:createItem{ n = n } end
print(items:query("n > 5"):count(), items:query():sum("n"), items:query():max("n"), #items:query():sorted("n"):all())
-- expect: 2	19	9	5
-- expect log: n > 5 left out 2 items whose n is text
-- expect log: sum(n) left out 2 items whose n is text
-- expect log: max(n) left out 2 items whose n is text
-- expect log: sorted(n) kept apart 2 items whose n is text
print(items:query("n.description == 'n/a' OR n.doubleValue > 8"):count())
-- expect: 2
for _, item in items:each() do item.t = "a" item.pickup = { place = "x" } end
local function refusal(f, ...) return (tostring(select(2, pcall(f, ...))):match("[^\n]*")) end
for _, method in ipairs{ "sum", "average", "min", "max", "sorted", "groupBy", "distinct" } do
  local q = items:query()
  print(method, refusal(q[method], q, "t * t"):match("%* takes numbers, and t is text"), refusal(q[method], q, "t.year"):match("text has no property year"), refusal(q[method], q, "pickup.plcae"):match("no item has pickup.plcae; did you mean place"))
end
-- expect: sum	* takes numbers, and t is text	text has no property year	no item has pickup.plcae; did you mean place
-- expect: average	* takes numbers, and t is text	text has no property year	no item has pickup.plcae; did you mean place
-- expect: min	* takes numbers, and t is text	text has no property year	no item has pickup.plcae; did you mean place
-- expect: max	* takes numbers, and t is text	text has no property year	no item has pickup.plcae; did you mean place
-- expect: sorted	* takes numbers, and t is text	text has no property year	no item has pickup.plcae; did you mean place
-- expect: groupBy	* takes numbers, and t is text	text has no property year	no item has pickup.plcae; did you mean place
-- expect: distinct	* takes numbers, and t is text	text has no property year	no item has pickup.plcae; did you mean place
print(refusal(items.query, items, "t * n > 5"):match("%* takes numbers, and t is text"), refusal(items.query, items, "pickup.nosuch == 1"):match("no item has pickup.nosuch"))
-- expect: * takes numbers, and t is text	no item has pickup.nosuch
items:query():remove()
print(items:query():sum("t * t"), items:query("pickup.nosuch == 1"):count(), items:query():max("t.year"))
-- expect: 0	0	nil
