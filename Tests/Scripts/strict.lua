-- Strict names: what nothing assigned is an error with the nearest names.

answer = 42
print(answer)
-- expect: 42
print(pcall(function() return anwser end))
-- expect: false	strict.lua:6: undefined global 'anwser'; did you mean 'answer'?
print((select(2, pcall(function() return itmes end)):match("^.*; did you mean 'items'")))
-- expect: strict.lua:8: undefined global 'itmes'; did you mean 'items'
print(pcall(function() setmetatable({}, { __gc = function() end }) end))
-- expect: false	strict.lua:10: a metatable with __gc is refused: use __close, or app:on("willTerminate", …)
print(rawget(_G, "nothing"), _G.answer)
-- expect: nil	42
print(pcall(function() return app.terminat end))
-- expect: false	strict.lua:14: app has no property or method 'terminat'; did you mean 'terminate'?
