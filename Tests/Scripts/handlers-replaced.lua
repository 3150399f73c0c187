-- Handlers that are replaced while their event is delivered, and handlers that are tables.

local function say(text) return function() io.write(text, " ") end end

-- A handler that is replaced before its turn is called once, in its new form, in its old place.
app:on("user.a", { priority = 10 }, function()
  io.write("first ")
  app:on("user.a", { id = "b", priority = 90 }, say("new"))
end)
app:on("user.a", { id = "b", priority = 20 }, say("old"))
app:on("user.a", { priority = 30 }, say("last"))
app:emit("user.a") print()
-- expect: first new last 

-- After its turn, or by itself, it has been called in its old form.
app:on("user.b", { id = "self" }, function()
  io.write("self ")
  app:on("user.b", { id = "self" }, say("replaced itself"))
end)
app:on("user.b", { priority = 90 }, function() app:on("user.b", { id = "self" }, say("again")) end)
app:emit("user.b") print()
-- expect: self 
app:emit("user.b") print()
-- expect: again 

-- Replaced and removed: not at all. Replaced twice: the last.
app:on("user.c", function()
  app:on("user.c", { id = "x" }, say("never")) app:off("x")
  app:on("user.c", { id = "y" }, say("never")) app:on("user.c", { id = "y" }, say("twice"))
end)
app:on("user.c", { id = "x" }, say("never")) app:on("user.c", { id = "y" }, say("never"))
app:emit("user.c") print()
-- expect: twice 

-- A group that is run again.
local round = 0
local function register()
  round = round + 1
  local text = "round " .. round
  app:group("g", function(on)
    on("user.d", say(text .. "a")) on("user.d", say(text .. "b"))
    if round == 1 then on("user.d", say("dropped")) end
  end)
end
app:on("user.d", { priority = 0 }, function() if round == 1 then register() end end)
register()
app:emit("user.d") print()
-- expect: round 2a round 2b 
app:emit("user.d") print()
-- expect: round 2a round 2b 
print(pcall(app.group, app, "g", function(on) on("user.d", say("half")) error("no", 0) end))
-- expect: false	no
app:emit("user.d") print()
-- expect: round 2a round 2b 

-- A table that can be called is a handler, wherever a function is one.
local calls = 0
local callable = setmetatable({}, { __call = function(self, event) calls = calls + 1 self.last = event and event.name end })
local named = setmetatable({ id = 1 }, getmetatable(callable))
app:on("user.e", callable)
app:on("user.e", { id = "with" }, named)
app:once("user.e", callable)
app:emit("user.e")
print(calls, callable.last, named.last)
-- expect: 3	user.e	user.e
app:emit("user.e")
print(calls)
-- expect: 5
timer.after(0, callable)
timer.sleep(0.01)
print(calls)
-- expect: 6
app.delegate = { applicationDidEnterBackground = callable }
app:pressHome() app:open()
app.delegate = nil
print(calls)
-- expect: 7
print(pcall(app.on, app, "user.e", setmetatable({}, { __index = {} })))
-- expect: false	bad argument #3 'handler' to 'app:on' (function expected, got nil)
print((select(2, pcall(app.on, app, "user.e", print, print))))
-- expect: bad argument #2 'options' to 'app:on' (options before the handler expected, got a handler)
print(#app:hooks{ event = "user.e" }, tostring(app:hooks{ event = "user.e" }[1]):match("handlers%-replaced") ~= nil)
-- expect: 2	true
