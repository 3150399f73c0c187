#!/usr/bin/env python3
"""Attaches prompts to hosts and has them leave, interrupt, read slowly, or be killed at random moments.

attach.py BINARY [TRIALS [SEED]]

Each host runs a main script that counts, and serves three clients at a time. After ten trials it has to have gone on
counting, to answer a new prompt, and to end by SIGTERM with 0, or with its script's own status.
"""
import os, random, select, shutil, signal, socket, struct, subprocess, sys, tempfile, threading, time

binary, trials = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 400
seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
root = tempfile.mkdtemp(prefix="cubby-attach-")
environment = dict(os.environ, HOME=root, MEMORY_PRESSURE_WATCH="/dev/null")
# A guard against a host that hangs; generous, since machines are shared.
PATIENCE = 120

hosts = {
    "serves": "timer.every(0.001, function() ticks = ticks + 1 end) app:run()",
    "waits in place": "timer.every(0.001, function() ticks = ticks + 1 end) coroutine.wrap(function() app:run() end)()",
    "works": "while not leave do ticks = ticks + 1 timer.sleep(0.0005) end os.exit(7)",
}
entries = [
    "return 1",
    "for i = 1, 2000 do print(i, ('x'):rep(500)) end",
    "for i = 1, 20000 do print(i, ('y'):rep(500)) end return 'long'",
    "local t = {} for i = 1, 5000 do t[i] = 'value ' .. i end return full(t)",
    "while true do end",
    "timer.sleep(1000)",
    "timer.sleep(0.01) return 'slept'",
    "error('broken')",
    "return setmetatable({}, { __tostring = function() for i = 1, 1e7 do end return 'shown' end })",
    "items:createItem{ name = 'far' } return #items",
    "coroutine.wrap(function() timer.sleep(0.05) end)()",
    "this is not Lua",
    ":help", ":undo", ":redo", ":history", ":doctor", ":time 6 * 7", ":load nothing", ":save nothing", ":edit", "?items", ":img", ":nope",
    "for i = 1, 1001 do items:createItem{ name = 'many' } end",
]
questions = [
    b'{"number":1,"text":"it","cursor":2}', b'{"number":2,"text":"items:query(","cursor":12}', b"[]", b"{",
    b'{"number":3,"text":"x = \\u0000","cursor":-7}', b'{"number":9223372036854775807,"text":"print","cursor":9223372036854775807}',
    b'{"text":"' + b"x" * 300000 + b'"}',
]
screens = [
    b'{"columns":1e300,"rows":-1}', b'{"columns":60,"rows":20,"isTerminal":true,"environment":{"TERM":"xterm","COLORTERM":"truecolor"}}',
    b"null", b'{"environment":7,"terminal":[]}',
]
answers = [b'{"isDone":true,"text":"x = 1"}', b'{"isDone":7}', b"", b'{"isDone":false}']


def message(kind, text=b""):
    return kind + struct.pack("<I", len(text)) + text


def connect(container):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(PATIENCE)
    client.connect(container + "/.socket")
    with open(root + "/.config/cubby/attach.key", "rb") as file:
        key = file.read().strip()
    client.sendall(message(b"H", b'{"version":3,"key":"' + key + b'","columns":80,"rows":24,"isTerminal":true,"isPrompt":true}'))
    return client


def drain(client, rng, pieces):
    """Reads some pieces, as they come."""
    for _ in range(pieces):
        if select.select([client], [], [], rng.random() * 0.005)[0] and not client.recv(rng.choice([64, 4096, 65536])):
            return


def raw_client(container, rng):
    try:
        client = connect(container)
        for _ in range(rng.randrange(1, 4)):
            client.sendall(message(b"E", rng.choice(entries).encode()))
            drain(client, rng, rng.choice([0, 1, 20]))
            if rng.random() < 0.5: client.sendall(message(b"I"))
            if rng.random() < 0.5: client.sendall(message(b"?", rng.choice(questions)))
            if rng.random() < 0.2: client.sendall(message(b"S", rng.choice(screens)))
            if rng.random() < 0.2: client.sendall(message(b"A", rng.choice(answers)))
            time.sleep(rng.choice([0, 0, rng.random() * 0.01, rng.random() * 0.1]))
        if rng.random() < 0.2: client.sendall(rng.choice([b"E\xff\xff\xff\xff", b"nonsense", b"E\x40\0\0\0half", b"I" + bytes(3)]))
        if rng.random() < 0.3: drain(client, rng, 30)
        client.close()
    except (BrokenPipeError, ConnectionError):
        pass  # refused, or ended for its nonsense


def program_client(container, rng):
    run = subprocess.Popen(
        [binary, "attach", "--container", container, "-e", rng.choice(entries)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
    if rng.random() < 0.5 and select.select([run.stdout], [], [], 0.2)[0]: os.read(run.stdout.fileno(), rng.choice([1, 4096, 100000]))
    time.sleep(rng.random() * 0.15)
    run.send_signal(rng.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
    run.stdout.close()
    run.wait(PATIENCE)


def ask(container, entry):
    run = subprocess.run(
        [binary, "attach", "--container", container, "-e", entry], capture_output=True, timeout=PATIENCE, env=environment)
    return run.returncode, run.stdout.decode(), run.stderr.decode()


def ask_until_free(container, entry):
    """Those who left keep their places until the host has seen it."""
    for _ in range(200):
        answer = ask(container, entry)
        if answer[0] != 69: return answer
        time.sleep(0.05)
    return answer


def fail(text, host):
    host.kill()
    raise SystemExit(f"seed {seed}, {root}: {text}\n{host.stderr.read().decode()[-2000:]}")


def trial_of_host(number, rounds):
    rng = random.Random(seed * 1000 + number)
    name, script = rng.choice(sorted(hosts.items()))
    container = f"{root}/{number}"
    host = subprocess.Popen(
        [binary, "--container", container, "-e", "ticks, leave = 0, false print('ready') io.stdout:flush() " + script],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    if host.stdout.readline() != b"ready\n": fail(f"{name}: the host did not start", host)
    # What entries print goes to their prompts; a host's pipe that fills up would be the trial's own fault.
    threading.Thread(target=lambda: host.stdout.read(), daemon=True).start()
    for _ in range(rounds):
        clients = [threading.Thread(target=rng.choice([raw_client, raw_client, program_client]),
                                    args=(container, random.Random(rng.random()))) for _ in range(3)]
        for client in clients: client.start()
        for client in clients: client.join()
        if host.poll() is not None: fail(f"{name}: the host ended with {host.returncode}", host)
    before = ask_until_free(container, "return ticks")
    after = ask_until_free(container, "timer.sleep(0.05) return ticks")
    if before[0] or after[0] or int(after[1]) <= int(before[1]):
        fail(f"{name}: the script did not go on: {before}, {after}", host)
    expected = 0
    if name == "works" and rng.random() < 0.5:
        expected = 7
        ask_until_free(container, "leave = true")
    else:
        host.send_signal(signal.SIGTERM)
    try:
        status = host.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        fail(f"{name}: the host does not end", host)
    if status != expected: fail(f"{name}: the host ended with {status}, not {expected}", host)
    shutil.rmtree(container)


done, number = 0, 0
while done < trials:
    rounds = min(10, trials - done)
    trial_of_host(number, rounds)
    done += rounds
    number += 1
    if sys.stdout.isatty(): print(f"\r{done}", end="", flush=True)
shutil.rmtree(root)
print(f"{number} hosts went on under {done} rounds of three prompts each (seed {seed})")
