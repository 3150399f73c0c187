-- defaults, notifications, bundle, app.restoration: what a script has of the services around it.

-- What was set, over what was registered.
defaults:register{ columns = 3, sortBy = "name" }
print(defaults:get("columns"), defaults:get("sortBy"), defaults:get("nothing"))
-- expect: 3	name	nil
defaults:set("columns", 5)
defaults:set("recent", { "a", "b" })
defaults:set("when", date(0))
print(defaults:get("columns"), #defaults:get("recent"), defaults:get("when") == date(0))
-- expect: 5	2	true
defaults:set("columns", nil)
defaults:remove("recent")
print(defaults:get("columns"), defaults:get("recent"))
-- expect: 3	nil
print(pcall(defaults.set, defaults, "f", print))
-- expect: false	bad argument #2 'value' to 'defaults:set' (boolean or number or string or table or date or data or null expected, got function)
print(pcall(defaults.set, defaults, "f", { 1, print }))
-- expect: false	bad argument #2 'value' to 'defaults:set' (f[2]: a function is not a property-list value (string, number, boolean, date, data, array, dictionary))
print(pcall(defaults.register, defaults, { 1, 2 }))
-- expect: false	bad argument #1 'values' to 'defaults:register' (a table with names as keys expected)
print(defaults:synchronize(), defaults.path == app.container.preferences .. "/cubby.plist", fs.exists(defaults.path))
-- expect: true	true	true

-- Observers: in the order of registration, over a snapshot, each protected.
local function hear(text) return function(note) print(text, note.name, note.info and note.info.n) end end
local first = notifications:addObserver("sale", hear("first"))
notifications:addObserver("sale", function() error("observer broke") end)
local all = notifications:addObserver(nil, hear("all"))
local shared = { n = 1 }
local same
local last = notifications:addObserver("sale", function(note) same = note.info == shared and note.userInfo == shared end)
print(notifications:post("sale", shared), same)
-- expect: first	sale	1
-- expect log: observer broke
-- expect: all	sale	1
-- expect: 4	true
print(app:errors()[1].event, app:errors()[1].message:match("observer broke"))
-- expect: sale	observer broke
first:remove() first:remove()
notifications:removeObserver(last)
print(notifications:post("other"), tostring(first))
-- expect: all	other	nil
-- expect: 1	Observer(sale, removed)
all:remove()

-- Cocoa's notifications come with the callbacks, after the handlers.
notifications:addObserver("UIApplicationDidEnterBackgroundNotification", function(note) print(note.name, app.state) end)
app:on("didEnterBackground", { id = "h" }, function() print("handler") end)
app:pressHome() app:open()
-- expect: handler
-- expect: UIApplicationDidEnterBackgroundNotification	background
app:off("h")

-- The bundle is outside of the container, and read-only.
print(bundle:path("nothing", "png"), bundle:path("../secret"), app.container.bundle ~= nil)
-- expect: nil	nil	true
print(#bundle:read("household", "csv") > 0, bundle:path("household.csv") == bundle:path("household", "csv"))
-- expect: true	true
local text, err = bundle:read("nothing", "csv")
print(text, err.code, err.path)
-- expect: nil	noSuchResource	nothing.csv
local written, err = fs.write(bundle:path("household.csv"), "")
print(written, err.code)
-- expect: nil	13

-- What the next launch finds.
print(next(app.restoration))
-- expect: nil
app.restoration.selected = "key"
app.restoration.scroll = { 1, 2.5 }
print(app.restoration.selected, pcall(function() app.restoration = 5 end))
-- expect: key	false	services.lua:72: app.restoration: table expected, got number
app.restoration.bad = print
app:pressHome()
-- expect: UIApplicationDidEnterBackgroundNotification	background
-- expect log: app.restoration is not kept: app.restoration.bad: a function is not a property-list value
