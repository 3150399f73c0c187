"""Hosts on links with a delay and a rate, while others commit all the time.

Judged are: no host is behind when nothing happens any more; each acknowledged increment counts; a queue, and commits to an item
that somebody else changes all the time, are there within seconds; large data comes over a slow link, up and down.
"""
import os, subprocess, time

from link import Link
from postgres import Server

ANSWER = """
local me, other = items:item(arg[1]), items:item(arg[2])
local last = tonumber(arg[3])
local function answer()
  if arg[1] == "ping" and other.valueInDollars == me.valueInDollars and me.valueInDollars < last then
    me.valueInDollars = me.valueInDollars + 1
  elseif arg[1] == "pong" and other.valueInDollars > me.valueInDollars then
    me.valueInDollars = other.valueInDollars
  end
end
items:on("didCommit", function(event) if event.host == arg[2] then answer() end end)
if arg[1] == "ping" then answer() end
while me.valueInDollars < last do timer.sleep(0.05) end
timer.sleep(0.5)
"""

COUNT = """
local kept = 0
for n = 1, tonumber(arg[1]) do
  local isMade = pcall(function()
    local item = items:item("counter")
    if n % 2 == 0 then item:increment("valueInDollars") else item.valueInDollars = item.valueInDollars + 1 end
    assert(items:synchronize())
  end)
  if isMade then kept = kept + 1 end
  timer.sleep(0.001)
end
-- One that was made while the server was waited for stands in the queue, and may have come to be settled.
print(kept, #items:conflicts())
"""

BUSY = """
local item = items:item("busy")
while not items:item("end") do
  item.valueInDollars = item.valueInDollars + 1
  items:synchronize()
  timer.sleep(0)
end
"""

ROOMS = """
for n = 1, 5 do
  items:item("busy").room = "Hall " .. n
  assert(items:synchronize())
end
"""


def links(program, root, seconds, count, fault):
    server = Server(f"{root}/server", addresses="127.0.0.1", port=5441)
    server.start()
    scripts = {}
    for name, text in {"answer": ANSWER, "count": COUNT, "busy": BUSY, "rooms": ROOMS}.items():
        scripts[name] = f"{root}/{name}.lua"
        with open(scripts[name], "w") as file:
            file.write(text)
    number = 0

    def words(name, url, *more):
        return [program, "--container", f"{root}/{name}", "--shared", url, "--offline", "queue", *more]

    def start(name, url, script, *arguments):
        return subprocess.Popen(
            words(name, url, "run", scripts[script], *map(str, arguments)), stdout=subprocess.PIPE, text=True)

    def ask(name, url, code):
        done = subprocess.run(words(name, url, "-e", code), capture_output=True, text=True, timeout=600)
        return done.stdout.strip()

    def collection(code):
        nonlocal number
        number += 1
        url = server.url(f"c{number}")
        subprocess.run([program, "shared", "init", url], check=True, capture_output=True)
        ask(f"owner{number}", url, code)
        return url, f"c{number}"

    faults = 0
    try:
        for delay in (0, 25, 100):
            end, rounds, behind = time.time() + seconds / 6, 0, 0
            while time.time() < end or rounds == 0:
                rounds += 1
                url, name = collection("for _, k in ipairs{ 'ping', 'pong' } do items:createItem{ itemKey = k } end")
                with Link(5441, delay) as link:
                    far = link.url(name) if delay else url
                    pong = start(f"{number}/pong", url, "answer", "pong", "ping", 100)
                    time.sleep(0.5)
                    ping = start(f"{number}/ping", far, "answer", "ping", "pong", 100)
                    for host in (ping, pong):
                        try:
                            host.wait(30 + delay)
                        except subprocess.TimeoutExpired:
                            behind += 1
                            host.kill()
            print(f"links: {rounds} times 100 answers of two hosts, {delay} ms one way: {behind} hosts slept")
            faults += fault("a host was behind") if behind else 0

            url, name = collection("items:createItem{ itemKey = 'counter', valueInDollars = 0 }")
            with Link(5441, delay) as link:
                hosts = [
                    start(f"{number}/{n}", link.url(name) if delay and n % 2 else url, "count", 40)
                    for n in range(count)]
                said = [host.communicate(timeout=600)[0].split() for host in hosts]
            kept, unsettled = (sum(int(each[place]) for each in said) for place in (0, 1))
            value = int(ask(f"{number}/judge", url, "print(items:item('counter').valueInDollars)"))
            print(
                f"links: {count} hosts count together, half of them {delay} ms away: {kept} acknowledged, {value} counted, "
                f"{unsettled} to be settled")
            faults += fault(f"{kept - value - unsettled} increments were lost") if kept != value + unsettled else 0

        url, name = collection("items:createItem{ itemKey = 'busy', valueInDollars = 0 } items:createItem{ itemKey = 'lap' }")
        with Link(5441, 100) as link:
            far = link.url(name)
            ask("lap", far, "items:saveChanges()")
            server.stop()
            ask("lap", far, "for n = 1, 10 do items:item('lap').valueInDollars = n timer.sleep(0) end")
            server.start()
            busy = start("busy", url, "busy")
            time.sleep(1)
            begin = time.time()
            ask("lap", far, "while #items:conflicts() == 0 and not items.isConnected do timer.sleep(0.05) end timer.sleep(0)")
            queue = time.time() - begin
            made = server.sql(
                f"select count(*) from cubby.log l join cubby.host h on h.id = l.host where h.name = 'lap'")
            begin = time.time()
            start("far", far, "rooms").wait(120)
            each = (time.time() - begin) / 5
            ask("end", url, "items:createItem{ itemKey = 'end' }")
            busy.wait(30)
        print(f"links: beside a busy host, 200 ms to the server and back: a run that sends 10 queued commits took "
              f"{queue:.1f} s, a commit to the busy item {each:.1f} s")
        faults += fault(f"{made} of 10 queued commits came") if made != "10" else 0
        faults += fault("a queue, or a commit, took longer than 5 s") if max(queue, each) > 5 else 0

        url, name = collection("for n = 1, 20 do items:createItem{ itemKey = 'k' .. n } end")
        with Link(5441, 5, 1_000_000) as link:
            far = link.url(name)
            ask("slow", far, "items:saveChanges()")
            ask("large", url,
                "for n = 1, 20 do items:item('k' .. n).notes = string.rep(string.format('%08d', n), 131072) timer.sleep(0) end")
            begin = time.time()
            found = ask("slow", far, "print(#items:item('k20').notes, items.isConnected)")
            down = time.time() - begin
            begin = time.time()
            ask("slow", far,
                "items:transaction(function() for n = 1, 20 do items:createItem{ itemKey = 'up' .. n, "
                "notes = string.rep(string.format('%08d', n), 131072) } end end)")
            up = time.time() - begin
        there = server.sql("select count(*) from cubby.item i join cubby.collection c on c.id = i.collection "
                           f"where c.name = '{name}' and encode(i.key, 'escape') like '%up%'")
        print(f"links: 21 MB at 1 MB/s: down {down:.0f} s, up in one commit {up:.0f} s")
        faults += fault(f"after 21 MB down the host has {found}") if found != "1048576\ttrue" else 0
        faults += fault(f"of 20 items {there} came up") if there != "20" else 0
        faults += narrow(server, collection, ask, fault)
    finally:
        server.stop()
    return faults


def narrow(server, collection, ask, fault):
    """A host at 1 Mbit/s, half a second away: it starts, commits, sends 2 MB in one commit, and comes back from an absence."""
    url, name = collection("items:transaction(function() for n = 1, 5000 do items:createItem{ itemKey = 'k' .. n, name = 'item ' .. n } end end)")
    times = []
    with Link(5441, 250, 125_000) as link:
        far = link.url(name)
        for code in (
            "print(#items)",
            "for n = 1, 5 do items:item('k' .. n).name = 'far ' .. n assert(items:synchronize()) end print(#items)",
            "items:item('k1').notes = string.rep('0123456789abcdef', 131072) assert(items:synchronize()) print(#items)",
        ):
            begin = time.time()
            found = ask("narrow", far, code)
            times.append(time.time() - begin)
            if found != "5000":
                return fault(f"at 1 Mbit/s a host has {found}")
        server.stop()
        ask("narrow", far, "for n = 1, 100 do items:item('k' .. n).room = 'away' timer.sleep(0) end")
        server.start()
        begin = time.time()
        ask("narrow", far, "while not items.isConnected do timer.sleep(0.05) end timer.sleep(0)")
        times.append(time.time() - begin)
    away = ask("judge", url, "print(items:query('room == \"away\"'):count(), #items:item('k1').notes)")
    first, few, large, back = times
    print(f"links: 1 Mbit/s and 500 ms to the server and back: a first start with 5,000 items {first:.0f} s, five commits with a "
          f"start {few:.0f} s, 2 MB in one commit {large:.0f} s, a queue of 100 commits {back:.0f} s")
    return fault(f"after that another host has {away}") if away != "100\t2097152" else 0
