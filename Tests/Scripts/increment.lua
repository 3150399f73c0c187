-- Increments: numbers that are added to, in any store.

local item = items:createItem{ name = "Vase", valueInDollars = 5 }
print(item:increment("valueInDollars"), item:increment("valueInDollars", 10), item:increment("valueInDollars", -1))
-- expect: 6	16	15
print(item.valueInDollars)
-- expect: 15

-- A field without a value counts as 0; with a real the sum is one.
print(item:increment("visits"), item:increment("visits", 0.5), math.type(item.visits))
-- expect: 1	1.5	float

-- What is no number cannot be incremented, and nothing changes.
print(pcall(item.increment, item, "name", 1))
-- expect: false	name is "Vase", which is not a number and cannot be incremented
print(pcall(item.increment, item, "visits", "many"))
-- expect: false	bad argument #2 'amount' to 'Item:increment' (number expected, got string)
item.large = math.maxinteger
print(pcall(item.increment, item, "large"))
-- expect: false	large is 9223372036854775807: 1 more is too large a number
print((pcall(item.increment, item, "valueInDollars", 0.5)))
-- expect: false
print(item.name, item.visits, item.large == math.maxinteger, item.valueInDollars)
-- expect: Vase	1.5	true	15

-- Reals have no exact cents; a field that is declared as money has.
item.plain = 0
for _ = 1, 3 do item:increment("plain", 0.1) end
print(item.plain == 0.3)
-- expect: false
items:declare{ balance = { kind = "number", format = "money" }, stock = { kind = "integer", most = 3 } }
for _ = 1, 3 do item:increment("balance", 0.1) end
print(item.balance == 0.3)
-- expect: true
print(item:increment("stock", 2.0), pcall(item.increment, item, "stock", 2))
-- expect: 2	false	stock is declared as at most 3: 4 is more; give it another value, or declare it anew

-- Undo takes an increment back, and redo makes it again.
timer.sleep(0)
item:increment("visits", 2)
timer.sleep(0)
items:undo()
print(item.visits)
-- expect: 1.5
items:redo()
print(item.visits)
-- expect: 3.5

-- Handlers see it as any other change; a value that one chooses is assigned.
items:on("willUpdate", function(event) if event.field == "visits" then event.new = 100 end end)
print(item:increment("visits"), item.visits)
-- expect: 100	100
