-- A method of the delegate whose name is none is told once; helpers are nobody's matter.

local function nothing() end
app.delegate = {
  applicationDidEnterBackgroud = nothing, sceneWillEnterFourground = nothing, aplicationWillTerminate = nothing,
  applicationDidFinishLaunching = nothing, sceneDidBecomeActive = nothing,
  helper = nothing, applications = nothing, scenery = nothing, applicationName = "no function",
}
-- expect log: app.delegate.aplicationWillTerminate is not a method of the life cycle and is never called; did you mean 'applicationWillTerminate'
-- expect log: app.delegate.applicationDidEnterBackgroud is not a method of the life cycle and is never called; did you mean 'applicationDidEnterBackground'
-- expect log: app.delegate.sceneWillEnterFourground is not a method of the life cycle and is never called; did you mean 'sceneWillEnterForeground'
app.delegate.applicationShouldDoSomethingElse = nothing
app:pressHome()
app:open()
-- expect log: app.delegate.applicationShouldDoSomethingElse is not a method of the life cycle and is never called; help("app.delegate") lists the methods
local base = { sceneDidBecomeActve = nothing }
app.delegate = setmetatable({}, { __index = base })
-- expect log: app.delegate.sceneDidBecomeActve is not a method
