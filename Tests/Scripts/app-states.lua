-- The states, as a script plays them: every callback in Cocoa's order, delivered before the verb returns.

print(app.state, app.name, app.version ~= "")
-- expect: active	cubby	true
local heard = {}
for _, name in ipairs{
  "willResignActive", "didEnterBackground", "willEnterForeground", "didBecomeActive", "didReceiveMemoryWarning",
  "willSave", "didSave", "willTerminate",
} do
  app:on(name, { group = "heard" }, function(event)
    assert(event.name == name)
    heard[#heard + 1] = name .. "(" .. app.state .. ")"
    if event.name ~= "willTerminate" then assert(event.simulated and event.cause == "script") end
    assert(math.abs(event.time - os.time()) < 60)
  end)
end
local function told(verb)
  app[verb](app)
  print(app.state, table.concat(heard, " "))
  heard = {}
end

items:createItem{ name = "Bear" }
told("pressHome")
-- expect: background	willResignActive(active) didEnterBackground(background) willSave(background) didSave(background)
-- expect log: Saved all of the Items
told("open")
-- expect: active	willEnterForeground(background) didBecomeActive(active)
told("interrupt")
-- expect: inactive	willResignActive(active)
told("endInterruption")
-- expect: active	didBecomeActive(active)
told("lock")
-- expect: inactive	willResignActive(active)
told("unlock")
-- expect: active	didBecomeActive(active)
told("simulateMemoryWarning")
-- expect: active	didReceiveMemoryWarning(active)
-- expect log: Received memory warning.

-- Without changes a store has nothing to save and says nothing.
told("pressHome")
-- expect: background	willResignActive(active) didEnterBackground(background)
print(pcall(app.pressHome, app))
-- expect: false	pressHome is not possible: the application is in the background already
print(pcall(app.unlock, app))
-- expect: false	unlock is not possible: the device is not locked
told("open")
-- expect: active	willEnterForeground(background) didBecomeActive(active)
print(pcall(app.endInterruption, app))
-- expect: false	endInterruption is not possible: no interruption is under way

-- The delegate: a table of functions under Cocoa's names, called before the handlers.
app.delegate = {
  applicationDidEnterBackground = function(application) print("delegate", application == app, app.state) end,
  sceneDidEnterBackground = function() print("scene") end,
  applicationWillResignActive = function() error("in the delegate") end,
}
app:on("didEnterBackground", { group = "heard" }, function() print("handler") end)
app:pressHome()
-- expect: delegate	true	background
-- expect: scene
-- expect: handler
-- expect log: in the delegate
app:open()
app.delegate = nil
app:off{ group = "heard" }
print(pcall(app.on, app, "didEnterBackgroun", print))
-- expect: false	bad argument #1 'event' to 'app:on' (unknown event 'didEnterBackgroun'; did you mean 'didEnterBackground'?)
print(pcall(app.on, app, "didEnterBackground"))
-- expect: false	bad argument #2 'options' to 'app:on' (table of options or function expected, got no value)
print(pcall(app.on, app, "didEnterBackground", { prio = 1 }, print))
-- expect: false	bad argument #2 'options' to 'app:on' (unknown option 'prio'; there are 'id', 'group', 'priority', 'once', 'budget', 'desc')
print(pcall(app.on, app, "didEnterBackground", { priority = 101 }, print))
-- expect: false	bad argument #2 'options' to 'app:on' (option 'priority': 0 to 100 expected, got 101)

-- A background task is called off in time, or expires when the way out comes.
local id = app:beginBackgroundTask("upload", function() print("expired") end)
print(math.type(id), app.backgroundTimeRemaining)
-- expect: integer	inf
app:endBackgroundTask(id)
app:endBackgroundTask(id)

print(pcall(app.endBackgroundTask, app, 999))
-- expect: false	bad argument #1 'id' to 'app:endBackgroundTask' (beginBackgroundTask has given no task the number 999)
