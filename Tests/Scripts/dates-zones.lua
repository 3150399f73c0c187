-- Dates by the clocks of zones: made, taken apart, parsed, formatted, and moved by the calendar. The user's clock is UTC here.

print(date{ year = 2026 }, date{ year = 2026, month = 7, day = 1, hour = 8, zone = "Europe/Berlin" })
-- expect: 2026-01-01 00:00:00 +0000	2026-07-01 06:00:00 +0000
print(date{ year = 2026, month = 3, day = 29, hour = 2, minute = 30, zone = "Europe/Berlin" })
-- expect: 2026-03-29 01:30:00 +0000
print(date{ year = 2026, month = 10, day = 25, hour = 2, minute = 30, zone = "Europe/Berlin" })
-- expect: 2026-10-25 00:30:00 +0000
print(date{ year = 2026, month = 10, day = 25, hour = 2, minute = 30, zone = "Europe/Berlin", offset = 3600 })
-- expect: 2026-10-25 01:30:00 +0000
print(date{ year = 1906, month = 10, day = 17, second = 1.5, zone = "-05:30" }.seconds == date("1906-10-17T05:30:01.5Z").seconds)
-- expect: true

local d = date("2026-07-01T06:00:00Z")
local parts = d:inZone("Europe/Berlin")
print(parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second, parts.weekday)
-- expect: 2026	7	1	8	0	0	4
print(parts.zone, parts.offset, parts.abbreviation, parts.isDaylight, date(parts) == d)
-- expect: Europe/Berlin	7200	CEST	true	true
for _, zone in ipairs{ "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC", "+02:00" } do
  local there = d:inZone(zone)
  print(there.zone, there.hour, there.minute, there.abbreviation, date(there) == d)
end
-- expect: America/New_York	2	0	EDT	true
-- expect: Australia/Lord_Howe	16	30	+1030	true
-- expect: Asia/Kathmandu	11	45	+0545	true
-- expect: UTC	6	0	UTC	true
-- expect: +02:00	8	0	+02:00	true
print(d:inZone().zone, d:inZone("local").hour)
-- expect: UTC	6
for hour = 0, 2 do
  local twice = date("2026-10-25T00:30:00Z") + hour * 3600
  local there = twice:inZone("Europe/Berlin")
  print(there.hour, there.abbreviation, date(there) == twice)
end
-- expect: 2	CEST	true
-- expect: 2	CET	true
-- expect: 3	CET	true

print(d:format("yyyy-MM-dd HH:mm XXX", "Europe/Berlin"), d:format("%d.%m.%Y %H:%M %z %Z", "America/New_York"))
-- expect: 2026-07-01 08:00 +02:00	01.07.2026 02:00 -0400 EDT
print(d:format("HH:mm zzz zzzz", "Asia/Kathmandu"), d:format("HH:mm v", "local"))
-- expect: 11:45 +0545 Asia/Kathmandu	06:00 UTC

-- The calendar moves days by the clock, and hours by what passes.
print(date("2026-01-31"):add{ months = 1 }, date("2024-02-29"):add{ years = 1 }, date("2026-03-31"):add{ months = -1 })
-- expect: 2026-02-28 00:00:00 +0000	2025-02-28 00:00:00 +0000	2026-02-28 00:00:00 +0000
local evening = date{ year = 2026, month = 3, day = 28, hour = 20, zone = "Europe/Berlin" }
print(evening:add{ days = 1, zone = "Europe/Berlin" } - evening, evening:add{ days = 1 } - evening, evening:add{ hours = 24 } - evening)
-- expect: 82800.0	86400.0	86400.0
print(evening:add{ weeks = 1, days = -7, zone = "Europe/Berlin" } == evening, (evening + 0.25):add{ seconds = 0.5 } - evening)
-- expect: true	0.75
print(date("2026-11-21"):add{ years = 1, months = 2, weeks = 1, days = 3, hours = 4, minutes = 5, seconds = 6 })
-- expect: 2028-01-31 04:05:06 +0000
local later = date("2026-10-25T01:30:00Z")
print(later:add{ days = 0, months = 0, zone = "Europe/Berlin" } == later)
-- expect: true

print(date.parse("21.11.2026 04:13", "%d.%m.%Y %H:%M"), date.parse("1. July 2026, 8:00 AM", "d. MMMM yyyy, h:mm a", "Europe/Berlin"))
-- expect: 2026-11-21 04:13:00 +0000	2026-07-01 06:00:00 +0000
print(date.parse("2026-07-01 08:00 +02:00", "%F %R %z", "UTC") == d, date.parse("2026-07-01 08:00 Europe/Berlin", "%F %R %Z") == d)
-- expect: true	true
local none, err = date.parse("21.13.2026", "%d.%m.%Y")
print(none, err.domain, err.code, err.message)
-- expect: nil	CubbyErrorDomain	invalidDate	'21.13.2026' is not such a date: at character 4 a month from 1 to 12 is expected, and there is '13.2026'
print(select(2, date.parse("2026 Europe/Atlantis", "%Y %Z")).message)
-- expect: '2026 Europe/Atlantis' is not such a date: there is no time zone 'Europe/Atlantis' (names are as Europe/Berlin, UTC, local or +02:00)

-- What is wrong.
for _, call in ipairs{
  function() return date{} end,
  function() return date{ year = 2026, month = 13 } end,
  function() return date{ year = 2026, month = 2, day = 29 } end,
  function() return date{ year = 2026, hour = 24 } end,
  function() return date{ year = 2026, second = 60 } end,
  function() return date{ year = 2026, second = 0/0 } end,
  function() return date{ year = 2026.5 } end,
  function() return date{ year = math.maxinteger } end,
  function() return date{ year = 2026, mnth = 3 } end,
  function() return date{ year = 2026, zone = "Europe/Berln" } end,
  function() return d:inZone("../../etc/passwd") end,
  function() return d:inZone("Europe/Berlin\0") end,
  function() return d:format("HH", "Nowhere") end,
  function() return d:add{ months = 1.5 } end,
  function() return d:add{ years = math.mininteger } end,
  function() return d:add{ hours = math.maxinteger } end,
  function() return d:add{ seconds = math.huge } end,
  function() return d:add{ months = 1, zone = "CEST" } end,
  function() return d:add() end,
  function() return date(1e300):add{ days = 1 } end,
  function() return date(1e300):inZone("UTC") end,
  function() return date.parse("04:13", "%H:%M") end,
  function() return date.parse("2026", "%Y %U") end,
  function() return date.parse("2026", "yyyy", "Nowhere") end,
} do print((select(2, pcall(call)):gsub("^.-:%d+: ", ""))) end
-- expect: bad argument #1 'moment' to 'date' (option 'year' is needed)
-- expect: bad argument #1 'moment' to 'date' (option 'month': a number from 1 to 12 expected, got 13)
-- expect: bad argument #1 'moment' to 'date' (option 'day': a number from 1 to 28 expected, got 29)
-- expect: bad argument #1 'moment' to 'date' (option 'hour': a number from 0 to 23 expected, got 24)
-- expect: bad argument #1 'moment' to 'date' (option 'second': a number from 0 to below 60 expected, got 60.0)
-- expect: bad argument #1 'moment' to 'date' (option 'second': a number from 0 to below 60 expected, got -nan)
-- expect: bad argument #1 'moment' to 'date' (option 'year': integer expected, got 2026.5)
-- expect: bad argument #1 'moment' to 'date' (option 'year': a number from -999999 to 999999 expected, got 9223372036854775807)
-- expect: bad argument #1 'moment' to 'date' (unknown option 'mnth'; did you mean 'month'?)
-- expect: bad argument #1 'moment' to 'date' (option 'zone': there is no time zone 'Europe/Berln'; did you mean 'Europe/Berlin'?)
-- expect: bad argument #1 'zone' to 'date:inZone' (there is no time zone '../../etc/passwd' (names are as Europe/Berlin, UTC, local or +02:00))
-- expect: bad argument #1 'zone' to 'date:inZone' (there is no time zone 'Europe/Berlin\0'; did you mean 'Europe/Berlin'?)
-- expect: bad argument #2 'zone' to 'date:format' (there is no time zone 'Nowhere' (names are as Europe/Berlin, UTC, local or +02:00))
-- expect: bad argument #1 'change' to 'date:add' (option 'months': integer expected, got 1.5)
-- expect: bad argument #1 'change' to 'date:add' (that is beyond the calendar)
-- expect: bad argument #1 'change' to 'date:add' (that is beyond the calendar)
-- expect: bad argument #1 'change' to 'date:add' (that is beyond the calendar)
-- expect: bad argument #1 'change' to 'date:add' (option 'zone': there is no time zone 'CEST' (names are as Europe/Berlin, UTC, local or +02:00))
-- expect: bad argument #1 'change' to 'date:add' (table of options expected, got no value)
-- expect: bad argument #1 'change' to 'date:add' (that is beyond the calendar)
-- expect: the date is beyond the calendar
-- expect: bad argument #2 'pattern' to 'date.parse' (a date needs a year (%Y or yyyy))
-- expect: bad argument #2 'pattern' to 'date.parse' ('%U' cannot be parsed (%Y, %m, %d, %H, %M, %S, %y, %b, %B, %a, %A, %j, %I, %p, %z, %Z, %F, %T, %R, %D can))
-- expect: bad argument #3 'zone' to 'date.parse' (there is no time zone 'Nowhere' (names are as Europe/Berlin, UTC, local or +02:00))
