-- Functions of items: of all, of each group, with a condition; groups in their order; how often each value is there.
local function add(name, room, price) return items:createItem{ name = name, room = room, price = price } end
add("Bear", "Study", 10)
add("Lamp", "Attic", 4)
add("Vase", "Study", 30)
add("Rug", "Attic", 7)
add("Desk", "Study", 200)
add("Box", nil, 4)

local q = items:query()
print(q:median("price"), q:percentile("price", 90), q:percentile("price", 0), q:stddev("price") == math.sqrt(q:variance("price")))
-- expect: 8.5	115.0	4	true
print(q:where("room == 'Study'"):median("price"), q:where("price > 900"):median("price"), q:limit(1):stddev("price"))
-- expect: 30	nil	nil
local row = q:aggregate{ n = "count()", dear = "count(price > 8)", attic = "sum(price, room == 'Attic')", middle = "median(price, price < 100)", top = "percentile(price, 75, room != nil)", spread = "variance(price, name IN {'Bear', 'Rug'})" }
print(row.n, row.dear, row.attic, row.middle, row.top, row.spread, row.other)
-- expect: 6	3	11	7	30	4.5	nil
print(q:aggregate{ least = "min(name, room == nil)", mean = "average(price * 2, room == 'Attic')", none = "max(price, price > 900)" }.least)
-- expect: Box

-- Of groups, and in their order.
local rooms = q:groupBy("room")
for _, each in ipairs(rooms:aggregate{ middle = "median(price)", dear = "count(price > 8)", spread = "stddev(price)" }) do
  print(each.key, each.middle, each.dear, each.spread and each.spread > 2)
end
-- expect: Study	30	3	true
-- expect: Attic	5.5	0	true
-- expect: nil	4	0	nil
print(rooms[1]:median("price"), rooms[1]:percentile("price", 25), rooms[1]:aggregate{ n = "count(price > 20)" }.n, rooms[2]:median())
-- expect: 30	20.0	2	0
local function shown(groups)
  local found = {}
  for _, group in ipairs(groups) do found[#found + 1] = tostring(group.key) end
  return table.concat(found, " ")
end
print(shown(rooms:sorted("sum(price)", "descending")), shown(rooms:sorted("sum(price)")), shown(rooms:sorted("count(price > 5)")))
-- expect: Study Attic nil	nil Attic Study	nil Attic Study
print(shown(rooms:sorted("median(price, price < 5)")), shown(rooms:sorted("count", "descending"):limit(1)))
-- expect: Study Attic nil	Study
print(#q:groupBy("room", "price"), shown(q:groupBy("room", "price"):sorted("max(price)", "descending"):limit(1)))
-- expect: 6	Study

-- How often each value is there.
for _, each in ipairs(q:counts("room")) do print(each.room, each.count, each.share) end
-- expect: Study	3	0.5
-- expect: Attic	2	0.33333333333333
-- expect: nil	1	0.16666666666667
print(q:counts("room", "price")[1].room, #q:counts("room", "price"), #q:limit(0):counts("room"), q:counts("name.length")[1]["name.length"])
-- expect: Study	6	0	4

-- Values of other kinds are left out and said, also where a condition cannot be decided.
add("Odd", "Study", "n/a")
print(q:median("price"), q:aggregate{ n = "count(price > 8)" }.n)
-- expect: 8.5	3
-- expect log: median(price) left out 1 item whose price is text
-- expect log: price > 8 left out 1 item whose price is text

-- Mistakes.
local function refusal(f, ...) return (tostring(select(2, pcall(f, ...))):match("[^\n]*")) end
print(refusal(q.aggregate, q, { x = "avg(price)" }):match("average%(f%) is that"))
-- expect: average(f) is that
print(refusal(q.aggregate, q, { x = "count(room > 5)" }):match("every room is text"))
-- expect: every room is text
print(refusal(q.aggregate, q, { x = 5 }):match("a function's text expected"))
-- expect: a function's text expected
print(refusal(q.percentile, q, "price", 101):match("a percentage from 0 to 100 expected, got 101"))
-- expect: a percentage from 0 to 100 expected, got 101
print(refusal(rooms.sorted, rooms, "cuont"):match([[got "cuont"; did you mean 'count'%?]]))
-- expect: got "cuont"; did you mean 'count'?
print(refusal(rooms.sorted, rooms, "sum(prise)"):match("did you mean price"))
-- expect: did you mean price
items[1].count = 3
print(refusal(q.counts, q, "count"):match('groupBy%("count"%)'), refusal(q.counts, q, "room", "room"):match("given twice"))
-- expect: groupBy("count")	given twice
-- An error shows the beginning of a long text.
print(#refusal(q.aggregate, q, { x = ("x"):rep(1000000) }) < 1000, refusal(q.aggregate, q, { x = ("x"):rep(1000000) .. "()" }):match("999,802 more bytes"))
-- expect: true	999,802 more bytes
