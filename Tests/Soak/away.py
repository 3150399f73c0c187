"""Hosts that go on while the server is away: each step that was kept is on the server in the end, or is to be settled.

In a step a host adds one to a counter of its own and writes its name into one of a few items that all write to, as one
commit. A step that cannot follow another host's is taken back with all later ones of its host, since these build on its
counter: what a counter has grown by, and the steps that are to be settled, are together the steps that were kept.
"""
import os, random, subprocess, time

WORK = """
local name, shared = arg[1], tonumber(arg[2])
math.randomseed(os.time(), tonumber(arg[3]))
timer.sleep(0)
while true do
  local done = pcall(items.transaction, items, function()
    local counter = items:item(name)
    counter.valueInDollars = counter.valueInDollars + 1
    items:item("shared " .. math.random(shared)).serialNumber = name .. " " .. counter.valueInDollars
    if counter.valueInDollars % 7 == 0 then
      items:createItem{ itemKey = name .. " " .. counter.valueInDollars }
      items:moveItem(#items, math.random(#items))
    end
  end, { isolation = "snapshot", retries = 0 })
  if done then io.write("kept\\n") io.flush() end
  timer.sleep(math.random() * 0.02)
end
"""

JUDGE = """
local end_ = os.time() + 60
while (not items.isConnected or items.isReadOnly) and os.time() < end_ do timer.sleep(0.05) end
print(items:item(arg[1]).valueInDollars, #items:conflicts())
for _, conflict in ipairs(items:conflicts()) do conflict:keepTheirs() end
"""


class Laptop:
    def __init__(self, program, root, url, number):
        self.program, self.root, self.url, self.name = program, root, url, f"laptop {number}"
        self.container, self.log = f"{root}/laptops/{number}", f"{root}/laptop-{number}.log"
        self.process, self.before, self.kills, self.said = None, 0, 0, 0
        self.steps = self.conflicts = 0

    def start(self, shared):
        words = [self.program, "--container", self.container, "--shared", self.url, "--offline", "queue", "run"]
        words += [f"{self.root}/away.lua", self.name, str(shared), str(random.randrange(1 << 30))]
        with open(self.log, "ab") as out, open(self.log + ".errors", "ab") as errors:
            self.process = subprocess.Popen(words, stdout=out, stderr=errors)

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None
            self.kills += 1

    def judge(self):
        """What is wrong with the steps since the last time, in words; None when nothing is."""
        words = [self.program, "--container", self.container, "--shared", self.url, "run", f"{self.root}/judge.lua"]
        done = subprocess.run([*words, self.name], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stdout + done.stderr)
        value, conflicts = map(int, done.stdout.split())
        said = open(self.log, errors="replace").read().count("kept\n")
        kept, found = said - self.said, value - self.before + conflicts
        wrong = None
        # Of a step that a kill cut off, the line may be missing.
        if not kept <= found <= kept + self.kills:
            wrong = f"{self.name} kept {kept} steps: {value - self.before} are on the server, {conflicts} to be settled"
        self.before, self.said, self.kills = value, said, 0
        self.steps, self.conflicts = self.steps + kept, self.conflicts + conflicts
        return wrong


def away(program, root, server, seconds, count, command, fault):
    shared, faults = 3 * count, 0
    url = server.url("away")
    command("shared", "init", url)
    os.makedirs(f"{root}/laptops")
    open(f"{root}/away.lua", "w").write(WORK)
    open(f"{root}/judge.lua", "w").write(JUDGE)
    laptops = [Laptop(program, root, url, n + 1) for n in range(count)]
    command(
        "--container", f"{root}/owner", "--shared", url, "-e",
        f"for n = 1, {shared} do items:createItem{{ itemKey = 'shared ' .. n }} end "
        f"for n = 1, {count} do items:createItem{{ itemKey = 'laptop ' .. n }} end")
    for laptop in laptops:
        # So that each can start without the server.
        command("--container", laptop.container, "--shared", url, "-e", "items:saveChanges()")
    end, rounds = time.time() + seconds, 0
    try:
        while time.time() < end or rounds == 0:
            rounds += 1
            for laptop in laptops:
                laptop.start(shared)
            time.sleep(random.uniform(0.5, 3))
            server.stop()
            for _ in range(random.randrange(4)):
                time.sleep(random.uniform(0.2, 1.5))
                laptop = random.choice(laptops)
                laptop.kill()
                laptop.start(shared)
            time.sleep(random.uniform(0.5, 2))
            server.start()
            # Some are killed while they send what waited.
            time.sleep(random.choice([0.1, 0.7, 3]))
            for laptop in laptops:
                laptop.kill()
            for laptop in laptops:
                wrong = laptop.judge()
                if wrong:
                    faults += fault(wrong)
        listing = "for _, item in ipairs(items) do print(item.itemKey, item.valueInDollars, item.serialNumber) end"
        found = {command("--container", laptop.container, "--shared", url, "-e", listing) for laptop in laptops}
        found.add(command("--container", f"{root}/late", "--shared", url, "-e", listing))
        if len(found) > 1:
            faults += fault("hosts have other items, or another order")
        print(
            f"away: {count} hosts, {seconds:.0f} s, the server away {rounds} times; {sum(l.steps for l in laptops)} steps "
            f"kept, {sum(l.conflicts for l in laptops)} of them to be settled, the others on the server; {faults} faults")
    finally:
        for laptop in laptops:
            laptop.kill()
    return faults
