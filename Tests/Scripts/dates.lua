-- Dates: moments, compared and reckoned with, in UTC.

local d = date("2026-11-21T04:13:00Z")
print(d, d.year, d.month, d.day, d.hour, d.minute, d.second)
-- expect: 2026-11-21 04:13:00 +0000	2026	11	21	4	13	0
print(date("1906-10-17"), date("2026-11-21T05:13:00+01:00") == d, date("2026-11-21 04:13:00 +0000") == d)
-- expect: 1906-10-17 00:00:00 +0000	true	true
print(date(0), date(-1), date(1.5).seconds)
-- expect: 1970-01-01 00:00:00 +0000	1969-12-31 23:59:59 +0000	1.5
print(date(tostring(d)) == d, date(d) == d)
-- expect: true	true
print(d - date("2026-11-20T04:13:00Z"), d + 60, 60 + d == d + 60, d - 60 < d, d <= d, d > d)
-- expect: 86400.0	2026-11-21 04:14:00 +0000	true	true	true	false
print(d:format("%Y-%m-%d"), d:format("%d.%m.%Y %H:%M"), date("2024-02-29").day)
-- expect: 2026-11-21	21.11.2026 04:13	29
print(d == "2026-11-21 04:13:00 +0000", d ~= nil)
-- expect: false	true
local set = { [1] = date(0) }
print(set[1] == date(0), "at " .. date(0))
-- expect: true	at 1970-01-01 00:00:00 +0000
for _, text in ipairs{ "yesterday", "2026-13-01", "2026-02-30", "2026-11-21T25:00:00Z", "" } do
  local none, err = date(text)
  print(none, err.code, err.message)
end
-- expect: nil	invalidDate	'yesterday' is no date (write it as ISO 8601 has it: 1906-10-17, 2026-11-21T04:13:00Z)
-- expect: nil	invalidDate	'2026-13-01' is no date (write it as ISO 8601 has it: 1906-10-17, 2026-11-21T04:13:00Z)
-- expect: nil	invalidDate	'2026-02-30' is no date (write it as ISO 8601 has it: 1906-10-17, 2026-11-21T04:13:00Z)
-- expect: nil	invalidDate	'2026-11-21T25:00:00Z' is no date (write it as ISO 8601 has it: 1906-10-17, 2026-11-21T04:13:00Z)
-- expect: nil	invalidDate	'' is no date (write it as ISO 8601 has it: 1906-10-17, 2026-11-21T04:13:00Z)
print(pcall(date, {}))
-- expect: false	bad argument #1 'moment' to 'date' (number or string or date expected, got table)
print(pcall(date, math.huge))
-- expect: false	bad argument #1 'moment' to 'date' (inf is no moment)
print(pcall(function() return d < 5 end))
-- expect: false	dates.lua:34: bad argument #2 to 'date.__lt' (date expected, got number)
print(pcall(function() return d.yaer end))
-- expect: false	dates.lua:36: date has no property or method 'yaer'; did you mean 'year'?
print(pcall(function() d.year = 5 end))
-- expect: false	dates.lua:38: date.year cannot be assigned
print(math.abs(date() - date(os.time())) < 5)
-- expect: true
