-- A table that is raised as an error shows its fields, wherever the error ends.

app:on("user.fails", { id = "fails" }, function() error{ code = 3, where = { "here", "there" }, ["a b"] = "x\ny" } end)
app:emit("user.fails")
-- expect log: error in the handler user.fails (fails): { ["a b"] = "x\ny", code = 3, where = { "here", "there" } }
print(app:errors()[1].message)
-- expect: { ["a b"] = "x\ny", code = 3, where = { "here", "there" } }
timer.after(0, function() error{} end)
timer.sleep(0.01)
print(app:errors()[1].message)
-- expect: {}
-- expect log: {}
-- One that goes on without end is cut.
local cycle = {}
cycle.again = cycle
for i = 1, 100 do cycle[i] = ("x"):rep(1000) end
app:on("user.long", { id = "long" }, function() error(cycle) end)
app:emit("user.long")
print(#app:errors()[1].message < 1500)
-- expect: true
-- pcall gives the value itself.
print(select(2, pcall(error, { code = 5 })).code)
-- expect: 5
error({ code = 3 })
-- expect error: { code = 3 }
