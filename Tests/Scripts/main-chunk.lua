-- A script is the main coroutine, as in Lua's own interpreter; so is each handler and timer.
print(coroutine.isyieldable(), select(2, coroutine.running()))
-- expect: false	true
print(pcall(coroutine.yield, "to nobody"))
-- expect: false	attempt to yield from outside a coroutine
print(pcall(function() if coroutine.isyieldable() then return coroutine.yield("to the scheduler") end return "blocks" end))
-- expect: true	blocks
local main = coroutine.running()
print(coroutine.status(main), coroutine.resume(main))
-- expect: running	false	cannot resume non-suspended coroutine
print(coroutine.wrap(function()
    return coroutine.isyieldable(), select(2, coroutine.running()), coroutine.status(main)
end)())
-- expect: true	false	normal
-- What waits goes on, in the script and in coroutines of its own.
timer.sleep(0.001)
print(coroutine.wrap(function() timer.sleep(0.001) return coroutine.isyieldable() end)())
-- expect: true
timer.after(0, function()
    print(coroutine.isyieldable(), select(2, coroutine.running()), (pcall(coroutine.yield)))
end)
timer.sleep(0.01)
-- expect: false	true	false
app:on("user.main", { id = "main" }, function() print(coroutine.isyieldable(), (pcall(coroutine.yield))) end)
app:emit("user.main")
-- expect: false	false
for value in coroutine.wrap(function() for i = 1, 2 do coroutine.yield(i) end end) do print(value) end
-- expect: 1
-- expect: 2
