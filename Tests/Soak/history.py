"""A history of several hosts that do everything at once, under every fault, judged as a whole.

Each host runs transactions of nine sorts, and writes what each read and did: before it begins, and after its acknowledgement.
Lists tell the order: an element is appended by one transaction, so that a list says who was before whom. What a transaction
read and wrote makes edges between transactions; a cycle of them is what no order of whole transactions explains.

    append  reads two lists, and appends to one of them        bank    moves money between accounts, and reads their total
    skew    takes from one of a pair, if both together have it  set     creates an item
    unique  creates an item, if a query finds none of its slot  cap     creates an item of a group, if groupBy counts too few
    merge   increments a counter                                move    moves an item to another place
    undo    creates an item, and takes that back
"""
import collections, json, os, random, signal, subprocess, time

from link import Link
from postgres import Server

LISTS, ACCOUNTS, PAIRS, SLOTS, GROUPS, CAP = 8, 10, 6, 400, 60, 3

WORK = """
local name, seed, quiet = arg[1], tonumber(arg[2]), arg[3]
local LISTS, ACCOUNTS, PAIRS, SLOTS, GROUPS, CAP = table.unpack(json.decode(arg[4]))
math.randomseed(os.time(), seed)
local number = 0
local function say(t) io.write(json.encode(t), "\\n") io.flush() end
local function wait() repeat timer.sleep(0.01) until items.isConnected and not items.isReadOnly end
local function any(kind, count) return items:item(kind .. " " .. math.random(count)) end
local works = {}
function works.append(t)
  local first, second = any("list", LISTS), any("list", LISTS)
  t.reads = { [first.itemKey] = first.notes, [second.itemKey] = second.notes }
  t.list = second.itemKey
  second.notes = second.notes .. t.id .. " "
end
function works.bank(t)
  local from, to, amount = any("account", ACCOUNTS), any("account", ACCOUNTS), math.random(20)
  from.valueInDollars = from.valueInDollars - amount
  to.valueInDollars = to.valueInDollars + amount
  t.total = 0
  for n = 1, ACCOUNTS do t.total = t.total + items:item("account " .. n).valueInDollars end
end
function works.skew(t)
  local pair = math.random(PAIRS)
  local one, other = items:item("pair " .. pair .. " a"), items:item("pair " .. pair .. " b")
  if math.random(2) == 1 then one, other = other, one end
  if one.valueInDollars + other.valueInDollars > 0 then one.valueInDollars = one.valueInDollars - 1
  else one.valueInDollars = one.valueInDollars + 2 end
end
function works.set(t) items:createItem{ itemKey = "set " .. t.id } end
function works.unique(t)
  local slot = math.random(SLOTS)
  if items:query("slot == " .. slot):count() == 0 then
    items:createItem{ itemKey = "unique " .. t.id, slot = slot }
  else t.isIdle = true end
end
function works.cap(t)
  local group, count = "group " .. math.random(GROUPS), 0
  for _, each in ipairs(items:query("cap != nil"):groupBy("cap")) do if each.key == group then count = each:count() end end
  if count < CAP then items:createItem{ itemKey = "cap " .. t.id, cap = group } else t.isIdle = true end
end
function works.merge(t) items:item("counter"):increment("valueInDollars") end
function works.move(t) items:moveItem(math.random(#items), math.random(#items)) end
function works.undo(t) items:createItem{ itemKey = "undo " .. t.id } end
local sorts = { "append", "append", "append", "bank", "skew", "set", "unique", "cap", "merge", "merge", "move", "undo" }
wait()
while not fs.exists(quiet) do
  number = number + 1
  local sort = sorts[math.random(#sorts)]
  local id = name .. "." .. seed .. "." .. number
  say{ try = sort, id = id }
  local t
  local done, message = pcall(items.transaction, items, function()
    t = { id = id, sort = sort }
    works[sort](t)
  end, { retries = 20 })
  t = t or { id = id, sort = sort }
  if done then
    t.ok = true
    say(t)
    if sort == "undo" then
      local undone, answer = pcall(items.undo, items)
      if undone and answer == true then say{ undone = id } else say{ kept = id, why = tostring(answer) } end
    end
  else
    message = tostring(message):gsub("%s+", " ")
    t.doubt = message:find("may have been committed", 1, true) ~= nil
    t.why = message
    say(t)
    wait()
  end
  timer.sleep(math.random() * 0.02)
end
timer.sleep(5)
local all = {}
for n, item in ipairs(items) do
  all[n] = { item.itemKey, item.notes or "", item.valueInDollars or 0, item.slot or 0, item.cap or "" }
end
say{ last = all, isBehind = not items.isConnected }
"""


class Host:
    def __init__(self, program, root, number, url, quiet):
        self.program, self.url, self.quiet = program, url, quiet
        self.name, self.log, self.container = f"h{number}", f"{root}/{number}.log", f"{root}/containers/{number}"
        self.work, self.starts, self.process = f"{root}/history.lua", 0, None

    def start(self):
        self.starts += 1
        sizes = json.dumps([LISTS, ACCOUNTS, PAIRS, SLOTS, GROUPS, CAP])
        words = [self.program, "--container", self.container, "--shared", self.url, "--allow-read", os.path.dirname(self.quiet)]
        words += ["run", self.work, self.name, str(self.starts), self.quiet, sizes]
        with open(self.log, "ab") as out, open(self.log + ".errors", "ab") as errors:
            self.process = subprocess.Popen(words, stdout=out, stderr=errors)

    def kill(self):
        self.process.kill()
        self.process.wait()

    @property
    def lines(self):
        """What it said; the last line of one that was killed may be half a line."""
        for line in open(self.log, errors="replace"):
            for piece in ("{" + part for part in line.split("{", 1)[1:]):
                try:
                    yield json.loads(piece)
                except ValueError:
                    pass


def history(program, root, seconds, count, fault):
    server = Server(f"{root}/server", addresses="127.0.0.1", port=5442)
    server.start()
    quiet = f"{root}/said/quiet"
    os.makedirs(f"{root}/said")
    open(f"{root}/history.lua", "w").write(WORK)
    url = server.url("history")
    hosts, links = [], []

    def on(container, code):
        words = [program, "--container", f"{root}/containers/{container}", "--shared", url, "-e", code]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)

    try:
        os.makedirs(f"{root}/containers")
        subprocess.run([program, "shared", "init", url], check=True, capture_output=True)
        on("owner", f"""
            for n = 1, {LISTS} do items:createItem{{ itemKey = "list " .. n, notes = "" }} end
            for n = 1, {ACCOUNTS} do items:createItem{{ itemKey = "account " .. n, valueInDollars = 100 }} end
            for n = 1, {PAIRS} do for _, each in ipairs{{ "a", "b" }} do
                items:createItem{{ itemKey = "pair " .. n .. " " .. each, valueInDollars = 1 }} end end
            items:createItem{{ itemKey = "counter", valueInDollars = 0 }}
            items:createItem{{ itemKey = "seed", slot = -1, cap = "none" }}""")
        # The way of each host: milliseconds one way, and bytes a second.
        ways = [(0, 0), (0, 0), (25, 0), (25, 0), (100, 0), (5, 1_000_000)]
        for number in range(count):
            delay, rate = ways[number % len(ways)]
            link = Link(5442, delay, rate)
            links.append(link)
            hosts.append(Host(program, root, number, link.url("history"), quiet))
            hosts[-1].start()
        faults_made = collections.Counter()
        end = time.time() + seconds
        while time.time() < end:
            time.sleep(random.uniform(0.3, 2))
            what = random.choice(("kill", "kill", "stop", "stop", "backends", "link", "link", "server"))
            if what == "server" and random.random() < 0.5:
                continue
            faults_made[what] += 1
            host, link = random.choice(hosts), random.choice(links)
            if what == "kill":
                host.kill()
                host.start()
            elif what == "stop":
                host.process.send_signal(signal.SIGSTOP)
                time.sleep(random.choice((0.1, 1, 6)))
                host.process.send_signal(signal.SIGCONT)
            elif what == "backends":
                server.sql_if_possible(
                    "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() "
                    "and backend_type = 'client backend' and random() < 0.5")
            elif what == "link":
                # Bytes stay where they are, or the connections break.
                if random.random() < 0.5:
                    link.process.send_signal(signal.SIGSTOP)
                    time.sleep(random.choice((0.2, 2, 12)))
                    link.process.send_signal(signal.SIGCONT)
                else:
                    link.restart(random.choice((0, 1, 4)))
            else:
                server.stop()
                time.sleep(random.uniform(0, 0.5))
                server.start()
            for each in hosts:
                if each.process.poll() is not None:
                    each.start()
        time.sleep(20)
        open(quiet, "w").close()
        for each in hosts:
            each.process.wait(120)
        return judge(server, hosts, program, root, seconds, faults_made, fault)
    finally:
        for each in hosts:
            each.kill()
        for link in links:
            link.__exit__()
        server.stop()


def judge(server, hosts, program, root, seconds, faults_made, fault):
    made, doubtful, tried, undone, last = {}, {}, {}, set(), []
    for host in hosts:
        found = None
        for line in host.lines:
            if "try" in line:
                tried[line["id"]] = line["try"]
            elif "undone" in line:
                undone.add(line["undone"])
            elif "last" in line:
                found = line
            elif line.get("ok"):
                made[line["id"]] = line
            elif line.get("doubt"):
                doubtful[line["id"]] = line
            elif "id" in line:
                tried.pop(line["id"], None)
        last.append(found)
    problems = []
    behind = sum(each is None or each["isBehind"] or each["last"] != last[0]["last"] for each in last)
    if behind:
        problems.append(f"{behind} hosts had other items, or none, 5 s after quiet")
    items = {key: (notes, value, slot, cap) for key, notes, value, slot, cap in next(e for e in last if e)["last"]}

    # What had no answer may have happened: a host that was killed, a connection that was lost.
    possible = {id for id in tried if id not in made}
    lost = twice = 0
    lists = {key: items[key][0].split() for key in items if key.startswith("list ")}
    places = {}
    for key, ids in lists.items():
        for place, id in enumerate(ids):
            twice += id in places
            places[id] = (key, place)
            if id not in tried:
                problems.append(f"{id} is in {key}, and nobody appended it")
    for id, line in made.items():
        sort = line["sort"]
        if sort == "append" and id not in places or sort == "set" and f"set {id}" not in items:
            lost += 1
        if sort in ("unique", "cap") and not line.get("isIdle") and f"{sort} {id}" not in items:
            lost += 1
        if sort == "bank" and line["total"] != ACCOUNTS * 100:
            problems.append(f"{id} saw {line['total']} in the accounts")
        if sort == "undo" and (f"undo {id}" in items) and id in undone:
            lost += 1
    for key in items:
        sort, _, id = key.partition(" ")
        if sort in ("set", "unique", "cap", "undo") and id not in tried:
            problems.append(f"{key} is there, and nobody made it")
    merged = sum(line["sort"] == "merge" for line in made.values())
    unsure = sum(tried[id] == "merge" for id in possible)
    lost += max(merged - items["counter"][1], 0)
    twice += max(items["counter"][1] - merged - unsure, 0)
    total = sum(items[f"account {n}"][1] for n in range(1, ACCOUNTS + 1))
    if total != ACCOUNTS * 100:
        problems.append(f"the accounts have {total}")
    for n in range(1, PAIRS + 1):
        if items[f"pair {n} a"][1] + items[f"pair {n} b"][1] < 0:
            problems.append(f"the pair {n} is below nothing")
    slots = collections.Counter(slot for _, _, slot, _ in items.values() if slot)
    problems += [f"the slot {slot} is taken {taken} times" for slot, taken in slots.items() if taken > 1]
    caps = collections.Counter(cap for _, _, _, cap in items.values() if cap)
    problems += [f"{cap} has {taken} of {CAP}" for cap, taken in caps.items() if taken > CAP]

    edges = collections.defaultdict(set)
    count_of_edges = 0
    for ids in lists.values():
        for first, second in zip(ids, ids[1:]):
            edges[first].add(second)
    for id, line in {**doubtful, **made}.items():
        if line["sort"] != "append" or id not in places:
            continue
        for key, text in line.get("reads", {}).items():
            read = text.split()
            if read != lists[key][:len(read)]:
                problems.append(f"{id} read of {key} what is not its beginning")
                continue
            if read and read[-1] != id:
                edges[read[-1]].add(id)
            if len(read) < len(lists[key]) and lists[key][len(read)] != id:
                edges[id].add(lists[key][len(read)])
    count_of_edges = sum(len(each) for each in edges.values())
    cycle = find_cycle(edges)
    if cycle:
        problems.append(f"a cycle: {' → '.join(cycle[:8])}")
    if lost:
        problems.append(f"{lost} lost")
    if twice:
        problems.append(f"{twice} twice")
    told = ", ".join(f"{number} {what}" for what, number in sorted(faults_made.items()))
    sorts = collections.Counter(line["sort"] for line in made.values())
    print(f"history: {len(hosts)} hosts, {seconds:.0f} s ({told}): {len(made)} acknowledged "
          f"({', '.join(f'{number} {sort}' for sort, number in sorted(sorts.items()))}), {len(undone)} undone, "
          f"{len(possible)} unknown; {count_of_edges} dependencies, {1 if cycle else 0} cycles; {lost} lost, {twice} twice; "
          f"{behind} hosts behind 5 s after quiet")
    return sum(fault(problem) for problem in problems[:20])


def find_cycle(edges):
    """A cycle of a graph, as a list of its nodes; none: an empty one."""
    state = {}
    for root in list(edges):
        if root in state:
            continue
        path, stack = [], [(root, iter(edges.get(root, ())))]
        state[root] = 1
        path.append(root)
        while stack:
            node, rest = stack[-1]
            for each in rest:
                if state.get(each) == 1:
                    return path[path.index(each):] + [each]
                if each not in state:
                    state[each] = 1
                    path.append(each)
                    stack.append((each, iter(edges.get(each, ()))))
                    break
            else:
                state[node] = 2
                path.pop()
                stack.pop()
    return []
