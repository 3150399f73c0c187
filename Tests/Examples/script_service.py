"""script_service.py PROGRAM [REQUESTS]: starts examples/ScriptService, and 64 connections ask it for thousands of scripts
of four tenants, one of which is greedy: its scripts take all the time, memory and output that there is.

Each answer is compared with what that script alone must give, so that a value, a global or a line of output of another
request is found, and so is a script of the others that lacked time or memory; what the service counts for each tenant must
say the same. Memory and descriptors of the process are read on the way. In the first three tenths the others are alone, so
that their times without the greedy tenant and beside it are told. Prints a line of figures; exits with 1 for the first answers
that are wrong.
"""

import asyncio
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
import urllib.request

REQUESTS = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
CONNECTIONS = 64
MODEST = ["north", "east", "south"]
GREEDY = "west"


def result(value, output=None):
    return lambda status, answer: status == 200 and answer == {"result": value, **({"output": output} if output else {})}


def refused(*texts):
    return lambda status, answer: status == 422 and "result" not in answer and any(t in answer["error"] for t in texts)


def written(limit):
    """What was written before the limit arrives; the answer says why it is cut."""
    return lambda status, answer: status == 422 and "output limit" in answer["error"] and len(answer["output"]) <= limit


# Each takes the request's own number and gives a script and the judge of its answer. The weights are beside them.
def honest(n):
    return (f"local sum = 0 for i = 1, 1000 do sum = sum + i * {n} end return {{ id = query.id, sum = sum }}",
            result({"id": str(n), "sum": 500500 * n}))


def globals_of_its_own(n):
    return (f"seen = (seen or 0) + 1 secret = (secret or '') .. query.id return seen .. secret", result(f"1{n}"))


def prints(n):
    return (f"for i = 1, 3 do print(query.id, i) end io.write('end {n}') return #query.id",
            result(len(str(n)), f"{n}\t1\n{n}\t2\n{n}\t3\nend {n}"))


def waits(n):
    return (f"local before = query.id local lamps = stock('lamp') assert(before == query.id) print({n}) return lamps + {n}",
            result(12 + n, f"{n}\n"))


def waits_in_vain(n):
    return (f"local ok, err = pcall(stock, 'ship {n}') return {{ ok, tostring(err) }}",
            lambda status, answer: status == 200 and answer["result"][0] is False
            and f"there is no product 'ship {n}'" in answer["result"][1])


def waits_in_coroutine(n):
    return (f"""local numbers = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(stock('chair') * i + {n}) end end)
                return {{ numbers(), numbers(), numbers() }}""", result([3 + n, 6 + n, 9 + n]))


def waits_in_comparison(n):
    return (f"""local t = {{ 3, 1, 2 }} table.sort(t, function(a, b) return a * stock('lamp') < b * stock('lamp') end)
                t[4] = {n} return t""", result([1, 2, 3, n]))


def random_is_its_own(n):
    return (f"math.randomseed({n}) local a = math.random(1 << 30) math.randomseed({n}) return a == math.random(1 << 30)",
            result(True))


def steals_libraries(n):
    return random.choice([
        ("string.format = function() return 'stolen' end", refused("read-only")),
        ("table.insert = nil", refused("read-only")),
        ("rawset(string, 'rep', nil)", refused("read-only")),
        ("getmetatable('').__index = {} return 1", refused("index", "read-only", "protected")),
        ("local g = _G print = nil for k in next, g do g[k] = nil end return 1", result(1)),
        ("return io.open or os.execute or debug or require or dofile or 'closed'", result("closed")),
    ])


def loops(n):
    return random.choice([
        ("while true do end", refused("time is up")),
        ("while true do pcall(function() while true do end end) end", refused("time is up")),
        ("local co = coroutine.wrap(function() while true do end end) co()", refused("time is up")),
        ("repeat local ok = pcall(stock, 'lamp') until false", refused("time is up")),
        ("return ('a'):rep(30000):find(('a*'):rep(50) .. 'b')", refused("time is up", "pattern")),
        ("local t <close> = setmetatable({}, { __close = function() while true do end end }) error('x')",
         refused("time is up")),
        ("return setmetatable({}, { __index = function(t, k) return t[k .. 'x'] end }).x",
         refused("overflow", "deep", "depth", "time is up", "memory")),
    ])


def eats(n):
    return random.choice([
        ("local t = {} for i = 1, math.huge do t[i] = i end", refused("not enough memory", "time is up")),
        ("return #('x'):rep(1 << 31)", refused("not enough memory", "too large")),
        ("local s = 'x' while true do s = s .. s end", refused("not enough memory", "too large")),
        ("local t = {} for i = 1, 1e6 do t[i] = coroutine.create(function() end) end",
         refused("not enough memory", "time is up")),
    ])


def nests(n):
    return random.choice([
        ("local function f() return 1 + f() end return f()", refused("overflow", "deep", "depth")),
        (f"local function f(n) if n == 0 then return {n} end return (f(n - 1)) end return f(150)", result(n)),
        ("return " + "(" * 300 + "1" + ")" * 300, refused("overflow", "too many", "levels")),
        ("local t = {} t.t = t return t", refused("cannot be sent")),
    ])


def floods(n):
    return (f"for i = 1, 1e5 do print(('{n} '):rep(100)) end", written(16 << 10))


def is_wrong(n):
    return random.choice([
        ("return 1 +", refused("script:1:")),
        (f"error('mine {n}')", refused(f"script:1: mine {n}")),
        (f"error({{ code = {n} }})", refused("")),
        ("\x1bLua", refused("")),
        ("return function() end", refused("cannot be sent")),
        (f"return query.id .. nil", refused("attempt to concatenate a nil value")),
    ])


KINDS = [(honest, 30), (globals_of_its_own, 15), (prints, 12), (waits, 12), (waits_in_vain, 4), (waits_in_coroutine, 4),
         (waits_in_comparison, 2), (random_is_its_own, 4), (steals_libraries, 5), (is_wrong, 3)]
GREEDY_KINDS = [(loops, 2), (eats, 3), (nests, 3), (floods, 4)]
# What the service counts for a tenant whose scripts are only wrong, and what it counts for the greedy one at least.
OWN_FAULTS = {"runtime", "argument", "syntax(incomplete: false)"}
EXCESSES = {"deadline", "memory", "output"}

wrong, counts, sent = [], {}, {}
alone, beside = [], []


async def ask(reader, writer, n, tenant, script):
    body = script.encode()
    writer.write(b"POST /run?tenant=%s&id=%d HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
                 % (tenant.encode(), n, len(body)) + body)
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
    text = await reader.readexactly(length)
    return int(head.split()[1]), json.loads(text) if text else None


async def connection(tenant, numbers, kinds, taken):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for n in numbers:
        kind = random.choices([k for k, _ in kinds], [w for _, w in kinds])[0]
        script, judge = kind(n)
        start = time.perf_counter()
        status, answer = await asyncio.wait_for(ask(reader, writer, n, tenant, script), 60)
        if kind in (honest, globals_of_its_own, prints):
            taken.append((time.perf_counter() - start) * 1000)
        counts[kind.__name__] = counts.get(kind.__name__, 0) + 1
        sent[tenant] = sent.get(tenant, 0) + 1
        try:
            is_right = judge(status, answer)
        except (KeyError, TypeError, IndexError):
            is_right = False
        if not is_right:
            wrong.append(f"request {n} of {tenant}, {kind.__name__}: {script[:200]!r}\n  {status} {str(answer)[:300]}")
    writer.close()


def size():
    """Megabytes that the service has in memory, and its descriptors."""
    with open(f"/proc/{service.pid}/status") as status:
        kilobytes = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    return kilobytes / 1024, len(os.listdir(f"/proc/{service.pid}/fd"))


async def modest(numbers, taken):
    count = CONNECTIONS * 3 // 4
    await asyncio.gather(*(connection(MODEST[i % 3], numbers, KINDS, taken) for i in range(count)))


async def main():
    """The greedy tenant, so that its memory is in the first figure; the others alone; then all of them, a quarter of the
    connections the greedy one's."""
    first, own = REQUESTS * 3 // 10, REQUESTS // 10

    async def greedy(numbers):
        await asyncio.gather(*(connection(GREEDY, numbers, GREEDY_KINDS, []) for _ in range(CONNECTIONS // 4)))

    await greedy(iter(range(own // 10)))
    await modest(iter(range(own // 10, first)), alone)
    figures.append(size())
    await asyncio.gather(
        modest(iter(range(first, REQUESTS * 91 // 100)), beside), greedy(iter(range(REQUESTS * 91 // 100, REQUESTS))))


def check_usage(usage):
    """What the service counted is what was sent, and no tenant but the greedy one lacked anything."""
    for tenant in MODEST + [GREEDY]:
        counted, failures = usage[tenant]["runs"], set(usage[tenant]["failures"])
        if tenant in MODEST and counted != sent[tenant]:
            wrong.append(f"{sent[tenant]} requests of {tenant}, and the service counts {counted}")
        if tenant in MODEST and not failures <= OWN_FAULTS or tenant == GREEDY and not failures >= EXCESSES:
            wrong.append(f"the service counts for {tenant}: {usage[tenant]['failures']}")


service = subprocess.Popen([sys.argv[1], "0"], stderr=subprocess.PIPE, text=True)
port = None
for line in service.stderr:
    if found := re.search(r"listening on 127\.0\.0\.1:(\d+)", line):
        port = int(found[1])
        break
if not port:
    sys.exit("the service does not start")
threading.Thread(target=service.stderr.read, daemon=True).start()

random.seed(int(os.environ.get("CUBBY_SEED", "1")))
figures = []
start = time.perf_counter()
asyncio.run(main())
seconds = time.perf_counter() - start
time.sleep(0.5)
figures.append(size())
with urllib.request.urlopen(f"http://127.0.0.1:{port}/usage", timeout=30) as answer:
    usage = json.load(answer)
check_usage(usage)
(before, _), (after, descriptors) = figures
status = service.poll()
service.terminate()
service.wait(30)


def quantiles(times):
    times.sort()
    return f"{times[len(times) // 2]:.1f} ms in the median, {times[len(times) * 99 // 100]:.1f} at the 99th percentile"


print(f"{REQUESTS} requests over {CONNECTIONS} connections in {seconds:.1f} s: {REQUESTS / seconds:.0f} a second; honest ones "
      f"{quantiles(alone)}, beside the greedy tenant {quantiles(beside)}; memory {before:.0f} MB after three tenths, "
      f"{after:.0f} at the end; {descriptors} descriptors")
print(", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
for tenant in MODEST + [GREEDY]:
    used = usage[tenant]
    print(f"{tenant}: {used['runs']} runs, {used['seconds']:.2f} s, {used['peakMemory'] >> 10} KB at most, "
          f"{used['outputBytes']} bytes written, {used['failures']}")
for line in wrong[:20]:
    print("WRONG", line)
if status is not None:
    sys.exit(f"the service has ended with status {status}")
if wrong:
    sys.exit(f"{len(wrong)} of {REQUESTS} answers are wrong")
if after > before + 32:
    sys.exit(f"the service grew from {before:.0f} to {after:.0f} MB")
