-- Writes a manual page for cubby and for each of its commands, from the output of `cubby --experimental-dump-help` on
-- standard input: the declarations behind --help.
--
--   cubby … run manual.lua FOLDER DATE USAGE EXIT-STATUS.md
--
-- USAGE is a file with the output of `cubby --version` and `cubby --help`.
local folder, date, usage, statuses = ...
local tool = json.decode(io.read("a")).command
local name = tool.commandName
local version

local function escape(text)
  text = text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("'", "\\(aq"):gsub("`", "\\(ga"):gsub("~", "\\(ti"):gsub("%^", "\\(ha")
  return (text:gsub("^%.", "\\&."):gsub("\n%.", "\n\\&."))
end

local function bold(text) return "\\fB" .. escape(text) .. "\\fR" end
local function italic(text) return "\\fI" .. escape(text) .. "\\fR" end

local function option(each) return (each.kind == "long" and "--" or "-") .. each.name end

-- The notation of an argument: `--key name`, or `file …`.
local function form(argument)
  local value = argument.kind ~= "flag" and italic(argument.valueName or "value") or ""
  if argument.kind == "positional" then return value .. (argument.isRepeating and " …" or "") end
  local names = {}
  for _, each in ipairs(argument.names) do names[#names + 1] = bold(option(each)) end
  return table.concat(names, ", ") .. (value ~= "" and " " .. value or "")
end

-- The help of an argument, with the default that the library adds to --help.
local function help(argument)
  local text = argument.abstract or ""
  if argument.defaultValue and not text:find("(default", 1, true) and not text:find("the default)", 1, true) then
    text = text .. " The default is " .. argument.defaultValue .. "."
  end
  return escape(text)
end

local function list(page, title, arguments)
  if #arguments == 0 then return end
  page[#page + 1] = ".SH " .. title
  for _, argument in ipairs(arguments) do
    page[#page + 1] = ".TP\n" .. form(argument) .. "\n" .. help(argument)
  end
end

-- The visible arguments of a kind; --help and --version are only on the first page.
local function shown(command, wants)
  local arguments = {}
  for _, argument in ipairs(command.arguments or {}) do
    local first = argument.preferredName and option(argument.preferredName)
    if argument.shouldDisplay and first ~= "--help" and first ~= "--version" and wants(argument, first) then
      arguments[#arguments + 1] = argument
    end
  end
  return arguments
end

local function isPositional(argument) return argument.kind == "positional" end
local function isOption(argument) return argument.kind ~= "positional" end

local start, hosts
for _, command in ipairs(tool.subcommands) do
  if command.commandName == tool.defaultSubcommand then start = command end
end
hosts = {}
for _, argument in ipairs(start.arguments) do
  if argument.preferredName then hosts[option(argument.preferredName)] = true end
end

local function synopsis(words, command)
  local parts = { bold(table.concat(words, " ")) }
  if #shown(command, isOption) > 0 then parts[#parts + 1] = "[" .. italic("options") .. "]" end
  for _, argument in ipairs(shown(command, isPositional)) do
    parts[#parts + 1] = argument.isOptional and "[" .. form(argument) .. "]" or form(argument)
  end
  return table.concat(parts, " ")
end

local function paragraphs(page, text)
  for paragraph in ((text or "") .. "\n"):gmatch("(.-)\n") do
    if paragraph ~= "" then page[#page + 1] = ".PP\n" .. escape(paragraph) end
  end
end

-- Whether a command takes the options of a host.
local function isHost(command)
  for _, argument in ipairs(command.arguments or {}) do
    if argument.preferredName and option(argument.preferredName) == "--memory-limit" then return true end
  end
  return false
end

local function begin(title, abstract)
  return {
    (".TH %s 1 %s \"%s %s\" \"Cubby\""):format(escape(title:upper()), date, name, version),
    ".SH NAME\n" .. escape(title) .. " \\- " .. escape((abstract or ""):gsub("%.$", "")),
  }
end

local function save(page, title)
  fs.write(folder .. "/" .. title .. ".1", table.concat(page, "\n") .. "\n")
end

local titles = {}

local function describe(words, command)
  local title = table.concat(words, "-")
  titles[#titles + 1] = title
  local page = begin(title, command.abstract)
  page[#page + 1] = ".SH SYNOPSIS\n" .. synopsis(words, command)
  local commands = {}
  for _, each in ipairs(command.subcommands or {}) do
    if each.shouldDisplay and each.commandName ~= "help" then commands[#commands + 1] = each end
  end
  for _, each in ipairs(commands) do
    page[#page + 1] = ".br\n" .. synopsis({ words[1], words[2], each.commandName }, each)
  end
  page[#page + 1] = ".SH DESCRIPTION\n" .. escape(command.abstract or "")
  paragraphs(page, command.discussion)
  for _, each in ipairs(commands) do
    page[#page + 1] = ".SS " .. escape(table.concat(words, " ") .. " " .. each.commandName)
    page[#page + 1] = escape(each.abstract or "")
    paragraphs(page, each.discussion)
    for _, argument in ipairs(shown(each, function(_, first) return not (isHost(each) and hosts[first]) end)) do
      page[#page + 1] = ".TP\n" .. form(argument) .. "\n" .. help(argument)
    end
  end
  list(page, "ARGUMENTS", shown(command, isPositional))
  local takesHosts = isHost(command) and command ~= start
  list(page, "OPTIONS", shown(command, function(argument, first)
    return isOption(argument) and not (takesHosts and hosts[first])
  end))
  if takesHosts then
    list(page, "OPTIONS OF A HOST", shown(command, function(argument, first)
      return isOption(argument) and hosts[first]
    end))
  end
  page[#page + 1] = ".SH SEE ALSO\n.BR " .. name .. " (1)"
  save(page, title)
end

local function table_of_statuses(page)
  page[#page + 1] = ".SH EXIT STATUS"
  for line in (fs.read(statuses):match("\n| %-%-%-.-\n(.-)\n\n") .. "\n"):gmatch("(.-)\n") do
    local status, meaning = line:match("^| (%d+) | (.*) |$")
    meaning = meaning:gsub("%[([^%]]*)%]%([^)]*%)", "%1"):gsub("`", "")
    page[#page + 1] = ".TP\n" .. bold(status) .. "\n" .. escape(meaning)
  end
end

local function pairs_of(page, title, entries)
  page[#page + 1] = ".SH " .. title
  for _, entry in ipairs(entries) do page[#page + 1] = ".TP\n" .. bold(entry[1]) .. "\n" .. escape(entry[2]) end
end

local usageText = fs.read(usage)
version = usageText:match("^%S+ (%S+)")

for _, command in ipairs(tool.subcommands) do
  if command.shouldDisplay and command.commandName ~= "help" and command ~= start then
    describe({ name, command.commandName }, command)
  end
end

local page = begin(name, tool.abstract)
page[#page + 1] = ".SH SYNOPSIS\n.nf"
for line in usageText:match("USAGE: (.-)\n\n"):gmatch("[^\n]+") do page[#page + 1] = escape((line:gsub("^%s+", ""))) end
page[#page + 1] = ".fi\n.SH DESCRIPTION\n" .. escape(tool.abstract)
paragraphs(page, tool.discussion)
page[#page + 1] = ".SH COMMANDS"
for _, command in ipairs(tool.subcommands) do
  if command.shouldDisplay and command.commandName ~= "help" then
    page[#page + 1] = ".TP\n" .. bold(command.commandName) .. "\n" .. escape(command.abstract)
  end
end
list(page, "OPTIONS", shown(start, isOption))
page[#page + 1] = ".TP\n" .. bold("--version") .. "\nShow the version."
page[#page + 1] = ".TP\n" .. bold("-h, --help") .. "\nShow the help, also of a command."
pairs_of(page, "ENVIRONMENT", {
  { "CUBBY_CONTAINER", "The default of --container." },
  { "CUBBY_SHARED", "The default of --shared: the address of a shared collection." },
  { "CUBBY_BUNDLE", "The default of --bundle: the folder of resources." },
  { "XDG_DATA_HOME, XDG_CONFIG_HOME", "The folders of the default container and of the configurations." },
  { "NO_COLOR, COLORFGBG, PAGER", "Whether colours are used, the terminal's background, and the program that shows long results." },
})
pairs_of(page, "FILES", {
  { "~/.local/share/cubby", "The default container: Documents, Library and tmp, as an iOS application has them." },
  { "~/.config/cubby", "Settings and grants of containers, written by cubby config." },
  { "Library/Scripts/init.lua", "A script in a container that runs at each launch." },
})
table_of_statuses(page)
page[#page + 1] = ".SH SEE ALSO"
for place, title in ipairs(titles) do
  page[#page + 1] = ".BR " .. escape(title) .. " (1)" .. (place < #titles and "," or "")
end
page[#page + 1] = ".PP\nThe reference of the scripts' API, a guided tour and examples are in share/doc/cubby."
save(page, name)
