"""A bank of several hosts: what they say that was acknowledged, held against what the server has in the end.

Each host has a counter of its own. A step adds one to it: in a transaction that moves money between two accounts as well,
or by itself, as a plain commit. Before a step a host writes `try N`, after its acknowledgement `kept N`; when the answer was
lost, `doubt N`, and then whether it had happened: `kept N` or `gone N`. An account's serialNumber counts its transfers; a
transfer says which numbers it read, and two that read the same have not seen each other.
"""
import os, random, re, subprocess, time

WORK = """
local name, accounts = arg[1], tonumber(arg[2])
math.randomseed(os.time(), tonumber(arg[3]))
local function say(...) io.write(table.concat({...}, " "), "\\n") io.flush() end
local function wait() repeat timer.sleep(0.01) until items.isConnected and not items.isReadOnly end
local commits = 0
items:on("didCommit", function(event) if event.cause ~= "remote" then commits = commits + 1 end end)
wait()
while true do
  local counter = items:item(name)
  local number, runs = counter.valueInDollars + 1, 0
  say("try", number)
  local isDoubtful = false
  if number % 2 == 0 then
    local first, second, done, message
    done, message = pcall(items.transaction, items, function()
      runs = runs + 1
      local from, to = items:item("account " .. math.random(accounts)), items:item("account " .. math.random(accounts))
      first, second = from.itemKey .. " " .. from.serialNumber, to.itemKey .. " " .. to.serialNumber
      local amount = math.random(20)
      from.valueInDollars = from.valueInDollars - amount
      to.valueInDollars = to.valueInDollars + amount
      from.serialNumber = tostring(tonumber(from.serialNumber) + 1)
      if to ~= from then to.serialNumber = tostring(tonumber(to.serialNumber) + 1) end
      counter.valueInDollars = number
    end, { retries = 20 })
    if not done then
      if tostring(message):find("may have been committed", 1, true) then
        say("doubt", number) isDoubtful = true
      else
        say("refused", (tostring(message):gsub("%s+", " ")))
      end
      timer.sleep(0.05)
    end
    wait()
    if counter.valueInDollars == number then
      say("kept", number)
      if done then say("read " .. first) if second ~= first then say("read " .. second) end end
    elseif isDoubtful then say("gone", number) end
    if runs > 1 then say("again", runs - 1) end
  else
    local before = commits
    -- The link may break between the wait and the change.
    if pcall(function() counter.valueInDollars = number end) then
      timer.sleep(0)
      if commits == before and items.isReadOnly then say("doubt", number) end
      while commits == before do timer.sleep(0.01) end
      say("kept", number)
    else
      wait()
    end
  end
end
"""


class Host:
    """A process that works on the bank; another one in the same container after it was killed."""

    def __init__(self, bank, number, url, prefix=()):
        self.bank, self.name, self.url, self.prefix = bank, f"host {number}", url, list(prefix)
        self.container, self.log = f"{bank.root}/containers/{number}", f"{bank.root}/{number}.log"
        self.process = None

    def start(self):
        words = [*self.prefix, self.bank.program, "--container", self.container, "--shared", self.url]
        words += ["run", f"{self.bank.root}/work.lua"]
        words += [self.name, str(self.bank.accounts), str(random.randrange(1 << 30))]
        with open(self.log, "ab") as out, open(self.log + ".errors", "ab") as errors:
            self.process = subprocess.Popen(words, stdout=out, stderr=errors)

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    @property
    def lines(self):
        return [line.split() for line in open(self.log, errors="replace") if line.endswith("\n")]


class Bank:
    accounts = 20

    def __init__(self, program, root, url, urls, prefixes=None):
        """`url` is what the judge uses, `urls` what each host uses; a prefix is a command that runs another."""
        self.program, self.root, self.url = program, root, url
        os.makedirs(f"{root}/containers", exist_ok=True)
        open(f"{root}/work.lua", "w").write(WORK)
        self.command("shared", "init", url)
        self.on(
            "owner",
            f"for n = 1, {self.accounts} do "
            "items:createItem{ itemKey = 'account ' .. n, valueInDollars = 100, serialNumber = '0' } end "
            f"for n = 1, {len(urls)} do items:createItem{{ itemKey = 'host ' .. n }} end")
        self.hosts = [Host(self, n + 1, urls[n], prefixes[n] if prefixes else ()) for n in range(len(urls))]
        for host in self.hosts:
            host.start()

    def command(self, *words):
        done = subprocess.run([self.program, *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def on(self, container, code):
        return self.command("--container", f"{self.root}/containers/{container}", "--shared", self.url, "-e", code)

    def kept(self):
        """How many steps were acknowledged so far."""
        return sum(line[0] == "kept" for host in self.hosts for line in host.lines)

    def wait_for_steps(self, seconds, hosts=None):
        """Waits until each host had another step acknowledged; names those that had none."""
        hosts = hosts or self.hosts
        before = {host: len([line for line in host.lines if line[0] == "kept"]) for host in hosts}
        end = time.time() + seconds
        while True:
            late = [h for h in hosts if len([line for line in h.lines if line[0] == "kept"]) <= before[h]]
            if not late or time.time() > end:
                return [f"{host.name}: {(open(host.log + '.errors').read().splitlines() or [''])[-1]}" for host in late]
            time.sleep(0.2)

    def stop(self):
        for host in self.hosts:
            host.kill()

    def judge(self, server, what):
        """Ends the hosts, prints the last lines, and gives the number of faults."""
        self.stop()
        faults = []
        values = dict(
            line.split("\t") for line in
            self.on("judge", "for _, item in ipairs(items) do print(item.itemKey .. '\\t' .. item.valueInDollars) end")
            .splitlines())
        total = sum(int(value) for key, value in values.items() if key.startswith("account "))
        if total != self.accounts * 100:
            faults.append(f"the accounts have {total} together, and had {self.accounts * 100}")
        lost = twice = again = doubts = happened = gone = refused = conflicts = 0
        reads = []
        for host in self.hosts:
            kept, tried, doubtful = [], 0, None
            for line in host.lines:
                if line[0] == "try":
                    tried = max(tried, int(line[1]))
                    doubtful = None
                elif line[0] == "doubt":
                    doubts += 1
                    doubtful = line[1]
                elif line[0] == "kept":
                    kept.append(int(line[1]))
                    happened += doubtful == line[1]
                elif line[0] == "read":
                    reads.append(" ".join(line[1:]))
                elif line[0] == "gone":
                    gone += 1
                elif line[0] == "again":
                    again += int(line[1])
                elif line[0] == "refused":
                    refused += 1
                    conflicts += "meanwhile" in line
            value = int(values[host.name])
            # A number that was acknowledged twice was taken back in between.
            lost += max(max(kept, default=0) - value, 0) + len(kept) - len(set(kept))
            twice += max(value - tried, 0)
        stale = len(reads) - len(set(reads))
        for name, number in (("lost", lost), ("twice", twice), ("stale", stale)):
            if number:
                faults.append(f"{number} {name}")
        hashes = {
            self.on(container, "local t = {} for _, item in ipairs(items) do t[#t + 1] = item.itemKey .. '=' .. "
                    "item.valueInDollars .. '=' .. tostring(item.serialNumber) end print(table.concat(t, ';'))")
            for container in ("judge", "other", "1")}
        if len(hashes) != 1:
            faults.append("hosts that start afresh have other items, or another order")
        commits = server.sql("select head from cubby.collection where name = 'bank'")
        settled = server.sql("select count(*) - count(distinct token) from cubby.log")
        if settled != "0":
            faults.append(f"{settled} tokens are in the log twice")
        print(
            f"{what}: {self.kept()} steps acknowledged in {commits} commits, {again} runs again, {conflicts} conflicts, "
            f"{refused - conflicts} refused; {doubts} in doubt ({happened} had happened or were sent again, {gone} had not, "
            f"{doubts - happened - gone} unknown to a host that ended); {lost} lost, {twice} twice, {stale} stale; replicas {'equal' if len(hashes) == 1 else 'NOT equal'}; "
            f"{len(faults)} faults")
        for fault in faults:
            print("  FAULT: " + fault)
        return len(faults)
