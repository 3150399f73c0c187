-- Handlers: order, replacing, groups, once, pausing, failures.

local function emit(name)
  app:emit("user." .. (name or "test"), { n = 1 })
end
local function say(text) return function() io.write(text, " ") end end

-- Priority first, then registration.
app:on("user.test", { priority = 90 }, say("last"))
app:on("user.test", say("middle"))
app:on("user.test", { priority = 10 }, say("first"))
app:on("user.test", say("middle2"))
emit() print()
-- expect: first middle middle2 last 
print(app:off("nothing"), #app:hooks{ event = "user.test" })
-- expect: 0	4
for _, hook in ipairs(app:hooks{ event = "user.test" }) do hook:off() end
emit() print("nobody")
-- expect: nobody

-- The same id on the same event replaces in place.
app:on("user.test", { id = "a" }, say("old"))
app:on("user.test", { id = "b" }, say("b"))
app:on("user.test", { id = "a" }, say("new"))
app:on("user.other", { id = "a" }, say("other"))
emit() print()
-- expect: new b 
print(app:off("a"), app:off("b"), #app:hooks{ id = "a" })
-- expect: 2	1	0

-- Groups replace themselves; `once` goes before its first call; a snapshot is delivered.
for _ = 1, 2 do
  app:group("g", function(on)
    on("user.test", say("in the group"))
    on("user.test", { once = true }, say("once"))
  end)
end
emit() emit() print(#app:hooks{ group = "g" })
-- expect: in the group once in the group 1
print(app:off{ group = "g" })
-- expect: 1
app:once("user.test", function() app:on("user.test", { id = "late" }, say("late")) end)
emit() print("not yet") emit() print()
-- expect: not yet
-- expect: late 
app:off("late")

-- Pausing; what a hook tells.
local hook = app:on("user.test", { id = "h", desc = "for a test", priority = 20 }, say("h"))
hook:pause() emit() hook:resume() emit() print()
-- expect: h 
print(hook.id, hook.event, hook.desc, hook.priority, hook.paused, hook.stats.calls, hook.stats.errors)
-- expect: h	user.test	for a test	20	false	1	0
print(app:hooks{ id = "h" }[1] == hook, tostring(hook))
-- expect: true	Hook(user.test (h))
hook:off() hook:off() emit() print("off")
-- expect: off

-- What it returns is ignored; an error of one does not keep the others from running.
app:on("user.test", { id = "bad" }, function() error("bad handler") end)
app:on("user.test", { id = "good" }, function(event) print(event.name, event.info.n); return false end)
emit()
-- expect: user.test	1
-- expect log: error in the handler user.test (bad): hooks.lua:
print(app:errors()[1].hook, app:errors()[1].message:match("bad handler"), app:errors()[1].traceback ~= nil)
-- expect: user.test (bad)	bad handler	true

-- Three failures in a row pause it, with one notice.
emit() emit() emit()
-- expect: user.test	1
-- expect: user.test	1
-- expect: user.test	1
-- expect log: failed 3 times in a row and is paused
local bad = app:hooks{ id = "bad" }[1]
print(bad.paused, bad.stats.errors, bad.stats.last_error:match("bad handler"))
-- expect: true	3	bad handler
bad:resume()
print(bad.paused)
-- expect: false
app:off("bad") app:off("good")

-- Never one of the background, terminate or save events.
app:on("didEnterBackground", { id = "bad" }, function() error("never paused") end)
for _ = 1, 4 do app:pressHome() app:open() end
print(app:hooks{ id = "bad" }[1].paused, app:hooks{ id = "bad" }[1].stats.errors)
-- expect: false	4
app:off("bad")

-- A handler is not re-entered; nesting ends at depth 8, with the chain.
local calls = 0
app:on("user.test", { id = "self" }, function() calls = calls + 1; emit() end)
emit() print(calls)
-- expect: 1
app:off("self")
for depth = 1, 9 do
  app:on("user.deep" .. depth, { group = "deep" }, function() app:emit("user.deep" .. depth + 1) end)
end
app:emit("user.deep1")
-- expect log: events are nested more than 8 deep: user.deep1 → user.deep2
app:off{ group = "deep" }

-- A handler over its budget is stopped.
app:on("user.test", { id = "slow", budget = 0.02 }, function() while true do end end)
app:on("user.test", { id = "after" }, say("still called"))
emit() print()
-- expect: still called 
-- expect log: time is up: the limit is
app:off("slow") app:off("after")

-- A veto where it is not allowed is refused; so is an unknown property.
app:on("didBecomeActive", { id = "v" }, function(event) event:veto("no") end)
app:pressHome() app:open() app:off("v")
-- expect log: didBecomeActive cannot be refused
print(app.state)
-- expect: active
app:on("user.test", { id = "typo" }, function(event) return event.nmae end)
emit() app:off("typo")
-- expect log: Event has no property or method 'nmae'; did you mean 'name'?

-- The host's own save is among the hooks, and removed by nobody.
local own = app:hooks{ id = "host.save" }[1]
own:off()
print(own.event, app:off("host.save"), #app:hooks{ id = "host.save" })
-- expect: willSave	0	1
print(pcall(app.emit, app, "mine"))
-- expect: false	bad argument #1 'event' to 'app:emit' (a script's own events begin with 'user.', got 'mine')
print(pcall(app.on, app, "user.", print))
-- expect: false	bad argument #1 'event' to 'app:on' (unknown event 'user.')
print(pcall(app.on, app, "user.x", { budget = -1 }, print))
-- expect: false	bad argument #2 'options' to 'app:on' (option 'budget': seconds from 0 expected, got -1.0)

-- A budget that cannot be kept is refused when it is given; elsewhere it holds.
for _, event in ipairs{ "didEnterBackground", "willTerminate", "willSave", "didSave" } do
  print((select(2, pcall(app.on, app, event, { budget = 20 }, print)):match("%(option.*; cubby")))
  app:on(event, { budget = 4, id = "kept" }, print):off()
end
-- expect: (option 'budget': at most 4 s expected for didEnterBackground, got 20: all its handlers have that together on the way to the background or out; cubby
-- expect: (option 'budget': at most 4 s expected for willTerminate, got 20: all its handlers have that together on the way to the background or out; cubby
-- expect: (option 'budget': at most 4 s expected for willSave, got 20: all its handlers have that together on the way to the background or out; cubby
-- expect: (option 'budget': at most 4 s expected for didSave, got 20: all its handlers have that together on the way to the background or out; cubby
print(app:on("user.x", { budget = 20, id = "long" }, print).id, (select(2, pcall(app.on, app, "didSave", { budget = 20 }, print)):match("%-%-callback%-time %d+")))
-- expect: long	--callback-time 21
app:off("long")

-- Its place in the order, and what it counts: those of a higher priority come after the save.
app:on("willSave", { group = "save", priority = 95 }, function() print("after") end)
app:on("willSave", { group = "save" }, function() print("before", items.hasChanges) end)
items:createItem()
assert(items:saveChanges())
-- expect: before	true
-- expect: after
-- expect log: Saved all of the Items
print(own.stats.calls, own.stats.errors, own.stats.total_ms > 0)
-- expect: 1	0	true
app:on("willSave", { id = "late", priority = 99 }, function(event) event:veto("too late") end)
items:createItem()
print(items:saveChanges())
-- expect: before	true
-- expect: after
-- expect log: willSave cannot be refused
-- expect: true
app:off{ group = "save" } app:off("late")

-- A group that fails half-way leaves the one that was there.
app:group("half", function(on) on("user.test", say("whole")) end)
print((pcall(app.group, app, "half", function(on) on("user.test", say("half")) error("half-way") end)))
-- expect: false
emit() print()
-- expect: whole 
app:off{ group = "half" }

-- A handler that removes others, and itself, while the event is delivered.
local victims = {}
app:on("user.test", { priority = 1 }, function() for _, each in ipairs(victims) do each:off() end io.write("killer ") end)
for i = 1, 3 do victims[i] = app:on("user.test", say("victim" .. i)) end
victims[4] = app:on("user.test", { id = "self" }, say("self"))
app:on("user.test", say("survivor"))
emit() print()
-- expect: killer survivor 
app:hooks{ event = "user.test" }[1]:off() app:hooks{ event = "user.test" }[1]:off()

-- A handler of an item's `will…` event that fails takes back what it did.
items:on("willUpdate", { id = "refuse" }, function() items:createItem{ name = "side effect" } error("no") end)
local count = #items
print((pcall(function() items[1].name = "changed" end)), #items == count, items[1].name ~= "changed")
-- expect: false	true	true
app:off("refuse")

-- A handler may wait; the others follow when it has ended.
app:on("user.test", function() timer.sleep(0.01) io.write("slept ") end)
app:on("user.test", say("after it"))
emit() print()
-- expect: slept after it 
