-- An error that is no string ends a script with its own words.
error(setmetatable({}, { __tostring = function() return "my own words" end }))
-- expect error: my own words
