"""Several hosts on one collection, under kills: a bank whose sum stays, and counters that miss no acknowledged step.

usage: shared.py PROGRAM [SECONDS [HOSTS]]

Each host runs transfers between accounts as transactions, and adds to a counter of its own by plain commits, every fifth
time with a picture that only this value has; after each acknowledged step it writes a line. Hosts are killed with SIGKILL, and the server with SIGQUIT, which makes it recover, at
random moments. In the end the sum is what it was; each counter is what its host acknowledged last, or one more (the step
that was on its way), and its picture is that of its value; and hosts that start afresh have the same items in the same order.
"""
import os, pwd, random, shutil, signal, subprocess, sys, tempfile, time

program = os.path.abspath(sys.argv[1])
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60
count = int(sys.argv[3]) if len(sys.argv) > 3 else 8
accounts = 20
root = tempfile.mkdtemp(prefix="cubby-shared-")
as_user = []
if os.getuid() == 0:
    nobody = pwd.getpwnam("nobody")
    os.chown(root, nobody.pw_uid, nobody.pw_gid)
    as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
versions = sorted((v for v in os.listdir("/usr/lib/postgresql") if v.isdigit()), key=int)
tools = f"/usr/lib/postgresql/{versions[-1]}/bin"
data = f"{root}/data"
url = f"postgres://owner@/postgres?host={root}&collection=bank"


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def start_server():
    options = f"-k {root} -c listen_addresses='' -c max_connections=100"
    run(*as_user, f"{tools}/pg_ctl", "-D", data, "-w", "-l", f"{root}/log", "-o", options, "start")


def stop_server():
    pid = int(open(f"{data}/postmaster.pid").readline())
    os.kill(pid, signal.SIGQUIT)
    while os.path.exists(f"/proc/{pid}"):
        time.sleep(0.01)


PICTURE = """
local picture = assert(image.fromData(data.fromBase64("R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=")))
local function paint(key, value) assert(images:setImage(picture, key, { quality = value % 100 / 100 })) end
"""

WORK = PICTURE + """
local name, accounts = arg[1], tonumber(arg[2])
math.randomseed(os.time(), tonumber(arg[3]))
local function say(...) io.write(table.concat({...}, " "), "\\n") io.flush() end
timer.sleep(0)
local runs = 0
while true do
  while not items.isConnected or items.isReadOnly do timer.sleep(0.02) end
  local ok, message = pcall(items.transaction, items, function()
    runs = runs + 1
    local from, to = items:item("account " .. math.random(accounts)), items:item("account " .. math.random(accounts))
    local amount = math.random(20)
    from.valueInDollars = from.valueInDollars - amount
    to.valueInDollars = to.valueInDollars + amount
  end, { retries = 50 })
  say(ok and "transfer" or "refused", runs)
  runs = 0
  while not items.isConnected or items.isReadOnly do timer.sleep(0.02) end
  local counter = items:item(name)
  local done, value = pcall(items.transaction, items, function()
    counter.valueInDollars = counter.valueInDollars + 1
    if counter.valueInDollars % 5 == 0 then paint(name, counter.valueInDollars) end
    return counter.valueInDollars
  end, { retries = 50, isolation = "snapshot" })
  if done then say("counted", value) end
end
"""


JUDGE = PICTURE + """
local function bytes(key) return images:image(key) and assert(fs.read(images:imagePath(key))) end
for n = 1, tonumber(arg[1]) do
  local key = "host " .. n
  local value = items:item(key).valueInDollars // 5 * 5
  paint("probe", value)
  local wanted = value > 0 and bytes("probe") or nil
  if bytes(key) ~= wanted then print(key .. " has another picture than its value") end
end
"""


class Host:
    def __init__(self, number):
        self.name = f"host {number}"
        self.container = f"{root}/containers/{number}"
        self.log = f"{root}/{number}.log"
        self.process = None

    def start(self):
        words = [program, "--container", self.container, "--shared", url, "run", f"{root}/work.lua"]
        words += [self.name, str(accounts), str(random.randrange(1 << 30))]
        with open(self.log, "ab") as out, open(self.log + ".errors", "ab") as errors:
            self.process = subprocess.Popen(words, stdout=out, stderr=errors)

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def acknowledged(self):
        values = [int(line.split()[1]) for line in open(self.log) if line.startswith("counted") and line.endswith("\n")]
        return max(values, default=0)


def on(container, code):
    return run(program, "--container", f"{root}/containers/{container}", "--shared", url, "-e", code)


run(*as_user, f"{tools}/initdb", "-D", data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale=C")
start_server()
try:
    os.makedirs(f"{root}/containers")
    open(f"{root}/work.lua", "w").write(WORK)
    open(f"{root}/judge.lua", "w").write(JUDGE)
    run(program, "shared", "init", url)
    on("bank", f"for n = 1, {accounts} do items:createItem{{ itemKey = 'account ' .. n, valueInDollars = 100 }} end")
    on("bank", f"for n = 1, {count} do items:createItem{{ itemKey = 'host ' .. n }} end")
    hosts = [Host(number + 1) for number in range(count)]
    for host in hosts:
        host.start()
    end = time.time() + seconds
    kills = restarts = 0
    while time.time() < end:
        time.sleep(random.uniform(0.3, 1.2))
        if random.random() < 0.2:
            stop_server()
            time.sleep(random.uniform(0, 0.5))
            start_server()
            restarts += 1
        else:
            host = random.choice(hosts)
            host.kill()
            host.start()
            kills += 1
        for host in hosts:
            if host.process.poll() is not None:
                host.start()
    for host in hosts:
        host.kill()
    faults = []
    total = int(on("judge", f"local sum = 0 for n = 1, {accounts} do sum = sum + items:item('account ' .. n).valueInDollars end print(sum)"))
    if total != accounts * 100:
        faults.append(f"the accounts have {total} together, and had {accounts * 100}")
    for host in hosts:
        kept = int(on("judge", f"print(items:item('{host.name}').valueInDollars)"))
        said = host.acknowledged()
        if not said <= kept <= said + kills + restarts:
            faults.append(f"{host.name} acknowledged {said} steps, and {kept} are kept")
        if kept < said:
            faults.append(f"{host.name}: acknowledged steps are lost")
    faults += run(program, "--container", f"{root}/containers/judge", "--shared", url, "run", f"{root}/judge.lua", str(count)).splitlines()
    listing = "for _, item in ipairs(items) do print(item.itemKey, item.valueInDollars) end"
    if on("judge", listing) != on("other", listing):
        faults.append("two hosts have other items, or another order")
    lines = [line for host in hosts for line in open(host.log)]
    transfers = sum(line.startswith("transfer") for line in lines)
    again = sum(int(line.split()[1]) - 1 for line in lines if line.startswith("transfer") and len(line.split()) == 2)
    counted = sum(line.startswith("counted") for line in lines)
    print(
        f"{count} hosts, {seconds:.0f} s: {transfers} transfers ({again} runs again), {counted} steps acknowledged, "
        f"{kills} hosts and {restarts} servers killed; {len(faults)} faults")
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)
finally:
    for host in globals().get("hosts", []):
        host.kill()
    stop_server()
    shutil.rmtree(root, ignore_errors=True)
