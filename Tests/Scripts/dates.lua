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
print(d:format("yyyy-MM-dd"), d:format("yyyy-MM-dd'T'HH:mm:ssXXX"), d:format(), d:format(""))
-- expect: 2026-11-21	2026-11-21T04:13:00Z	2026-11-21	
print(d:format("EEEE, d. MMMM yy 'at' h:mm a"), d:format("MMM d, y"), d:format("dd/MM/yyyy 'o''clock' ''"), (d + 0.25):format("ss.SSS"))
-- expect: Saturday, 21. November 26 at 4:13 AM	Nov 21, 2026	21/11/2026 o'clock '	00.250
print(date(0):format("EEE D k K hh QQQ G zzz Z"), date("1906-10-17"):format("EEEE D"))
-- expect: Thu 1 24 0 12 Q1 AD UTC +0000	Wednesday 290
print(pcall(d.format, d, "yyyy-bb"))
-- expect: false	bad argument #1 'pattern' to 'date:format' ('b' is not a field of a date (yyyy, MM, dd, HH, mm, ss, EEE, … ; text goes between apostrophes, and strftime's fields begin with %))
print(pcall(d.format, d, "yyyy 'open"))
-- expect: false	bad argument #1 'pattern' to 'date:format' (an apostrophe is not closed; two of them stand for one)
print(d == "2026-11-21 04:13:00 +0000", d ~= nil)
-- expect: false	true
local set = { [1] = date(0) }
print(set[1] == date(0), "at " .. date(0))
-- expect: true	at 1970-01-01 00:00:00 +0000
for _, text in ipairs{ "yesterday", "2026-13-01", "2026-02-30", "2026-11-21T25:00:00Z", "" } do
  local none, err = date(text)
  print(none, err.code, err.message)
end
-- expect: nil	invalidDate	'yesterday' is not a date (write it as ISO 8601 has it: 1906-10-17, 2026-11-21T04:13:00Z)
-- expect: nil	invalidDate	'2026-13-01' is not a date (write it as ISO 8601 has it: 1906-10-17, 2026-11-21T04:13:00Z)
-- expect: nil	invalidDate	'2026-02-30' is not a date (write it as ISO 8601 has it: 1906-10-17, 2026-11-21T04:13:00Z)
-- expect: nil	invalidDate	'2026-11-21T25:00:00Z' is not a date (write it as ISO 8601 has it: 1906-10-17, 2026-11-21T04:13:00Z)
-- expect: nil	invalidDate	'' is not a date (write it as ISO 8601 has it: 1906-10-17, 2026-11-21T04:13:00Z)
-- A date has the digits of its text, or there is none.
for _, text in ipairs{ "2024-01-31T10:00:00.123456789Z", "9999-12-31T23:59:59.999999999Z", "2016-06-15T12:30:60Z" } do
  print(select(2, date(text)).message)
end
-- expect: '2024-01-31T10:00:00.123456789Z' is not a date: no date has all of its digits
-- expect: '9999-12-31T23:59:59.999999999Z' is not a date: no date has all of its digits
-- expect: '2016-06-15T12:30:60Z' is not a date (write it as ISO 8601 has it: 1906-10-17, 2026-11-21T04:13:00Z)
print(date("2024-01-31T10:00:00.123456Z"), date("2016-12-31T23:59:60Z"))
-- expect: 2024-01-31 10:00:00.123456 +0000	2017-01-01 00:00:00 +0000
print(select(2, date.parse("31.01.2024 10:00:00.123456789", "dd.MM.yyyy HH:mm:ss.S")).message)
-- expect: '31.01.2024 10:00:00.123456789' is not such a date: no date has its second
print(date.parse("31.12.2016 18:59:60", "dd.MM.yyyy HH:mm:ss", "America/New_York"))
-- expect: 2017-01-01 00:00:00 +0000
items:createItem{ name = "A", at = "2024-01-31T10:00:00.123456789Z" }
print((select(2, items:convert("at", "date")).message:gsub("item %S+", "item …")))
-- expect: at of the item … is "2024-01-31T10:00:00.123456789Z", which is not a date: nothing was converted
print(items:declare({ at = "date" }, { convert = true }) == nil, items[1].at)
-- expect: true	2024-01-31T10:00:00.123456789Z
print(pcall(date, {}))
-- expect: false	bad argument #1 'moment' to 'date' (option 'year' is needed)
print(pcall(date, math.huge))
-- expect: false	bad argument #1 'moment' to 'date' (inf is not a moment)
print(pcall(function() return d < 5 end))
-- expect: false	dates.lua:62: bad argument #2 to 'date.__lt' (date expected, got number)
print(pcall(function() return d.yaer end))
-- expect: false	dates.lua:64: date has no property or method 'yaer'; did you mean 'year'?
print(pcall(function() d.year = 5 end))
-- expect: false	dates.lua:66: date.year cannot be assigned
print(math.abs(date() - date(os.time())) < 5)
-- expect: true
print(pcall(d.format, d, ("MMMM "):rep(5000)))
-- expect: false	bad argument #1 'pattern' to 'date:format' (a pattern of a date has at most 16,384 bytes)
print(pcall(date.parse, "1.7.2026", ("%d."):rep(6000) .. "%Y"))
-- expect: false	bad argument #2 'pattern' to 'date.parse' (a pattern of a date has at most 16,384 bytes)
print(select(2, date.parse((" "):rep(70000) .. "2026", "yyyy")).code, select(2, date(("9"):rep(100000))).message:len() < 200)
-- expect: invalidDate	true

-- Sums of dates are dates.
for _, sum in ipairs{
  function() return date("2024-01-31") + 1/0 end, function() return -1/0 + date(0) end, function() return date(0) - 1/0 end,
  function() return date(1e308) + 1.7e308 end,
} do print((select(2, pcall(sum)):match("no moment is %S+ seconds from a date"))) end
-- expect: no moment is inf seconds from a date
-- expect: no moment is -inf seconds from a date
-- expect: no moment is -inf seconds from a date
-- expect: no moment is 1.7e+308 seconds from a date
