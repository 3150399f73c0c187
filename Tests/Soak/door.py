#!/usr/bin/env python3
"""Knocks at the debugger's port: HTTP, mutated messages, wrong tokens, slow and silent clients, other users.

door.py BINARY [KNOCKS [SEED]]

A program that waits on a port gets KNOCKS connections, several at a time. None may start the program, make it crash, or
keep the right client out: that one has to get in within its time, and the program to run.
"""
import json, os, random, re, shutil, socket, subprocess, sys, tempfile, threading, time

binary, knocks = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 4000
seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
root = tempfile.mkdtemp(prefix="cubby-door-")
environment = dict(os.environ, HOME=root, MEMORY_PRESSURE_WATCH="/dev/null")
# A guard against a program that hangs; generous, since machines are shared.
PATIENCE = 120
setpriv = shutil.which("setpriv") if os.geteuid() == 0 else None


def framed(content):
    return b"Content-Length: %d\r\n\r\n" % len(content) + content


def request(number, command, arguments=None):
    return framed(json.dumps({"seq": number, "type": "request", "command": command, "arguments": arguments or {}}).encode())


def web(rng, port, payload):
    """A request as browsers and tools send it, with a protocol message as its body."""
    method = rng.choice(["GET", "POST", "PUT", "OPTIONS", "HEAD", "CONNECT", "PRI", "content-length: 2 GET"])
    fields = ["Host: 127.0.0.1:%d" % port, "Content-Type: text/plain", "Content-Length: %d" % len(payload),
              "Origin: http://example.com", "Upgrade: websocket", "Transfer-Encoding: chunked"]
    rng.shuffle(fields)
    head = "%s /%s HTTP/1.1\r\n" % (method, rng.choice(["", "x?y", "Content-Length:%202"]))
    return head.encode() + "\r\n".join(fields[: rng.randrange(1, 6)]).encode() + b"\r\n\r\n" + payload


def knock_bytes(rng, port):
    wrong = "%064x" % rng.getrandbits(256)
    launch = {"program": root + "/main.lua", "token": rng.choice([wrong, wrong[:-1], "", 7, None, [wrong]])}
    payload = request(1, "initialize") + request(2, rng.choice(["launch", "attach"]), launch) + request(3, "configurationDone")
    kind = rng.randrange(6)
    if kind == 0:
        return web(rng, port, payload)
    if kind == 1:
        return payload
    if kind == 2:
        return request(1, rng.choice(["launch", "attach", "evaluate", "setBreakpoints", "disconnect"]), launch)
    if kind == 3:
        return rng.randbytes(rng.choice([1, 7, 5000]))
    if kind == 4:
        return rng.choice([b"", b"Content-Length: 10", b"Content-Length: 999999999\r\n\r\n", b"Content-Type:" + b"a" * 9000, b"\r\n\r\n"])
    mutated = bytearray(payload)
    for _ in range(rng.randrange(1, 6)):
        mutated[rng.randrange(len(mutated))] = rng.randrange(256)
    return bytes(mutated)


def knock(port, rng):
    client = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    data = knock_bytes(rng, port)
    try:
        if rng.random() < 0.1:
            # Slowly, a byte at a time.
            for byte in data[:60]:
                client.sendall(bytes([byte]))
                time.sleep(rng.random() * 0.01)
        else:
            client.sendall(data)
        behaviour = rng.random()
        if behaviour < 0.3:
            client.shutdown(socket.SHUT_WR)
        if behaviour < 0.8:
            client.settimeout(0.05)
            try:
                while client.recv(4096):
                    pass
            except socket.timeout:
                pass
    except OSError:
        pass
    finally:
        client.close()


class Right:
    """The right client."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.file = self.socket.makefile("rb")

    def wait(self, fits):
        while True:
            length = int(self.file.readline().split(b":")[1])
            self.file.readline()
            message = json.loads(self.file.read(length))
            if fits(message):
                return message

    def run(self, token):
        for number, (command, arguments) in enumerate([("initialize", {}), ("launch", {"token": token}), ("configurationDone", {})]):
            self.socket.sendall(request(number + 1, command, arguments))
        return self.wait(lambda m: m.get("event") == "exited")["body"]["exitCode"]


def items():
    found = subprocess.run([binary, "--container", root + "/c", "--read-only", "-e", "io.write(#items)"],
                           capture_output=True, env=environment, timeout=PATIENCE)
    return found.stdout.decode() if found.returncode == 0 else "none"


def main():
    with open(root + "/main.lua", "w") as file:
        file.write("items:createItem()")
    program = subprocess.Popen([binary, "debug", "--dap", "--listen", "0", "--container", root + "/c", root + "/main.lua"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    line = program.stderr.readline().decode()
    port, token = re.search(r'127\.0\.0\.1:(\d+), "token": "([0-9a-f]{64})"', line).groups()
    port = int(port)
    # What it says of strangers is read, so that it does not block.
    said = []
    reader = threading.Thread(target=lambda: said.extend(program.stderr), daemon=True)
    reader.start()
    numbers = iter(range(knocks))
    lock = threading.Lock()

    def knocker():
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            knock(port, random.Random(seed * 1000003 + number))

    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
    threads = [threading.Thread(target=knocker) for _ in range(4)]
    for thread in threads:
        thread.start()
    strangers = 0
    if setpriv:
        code = "import socket, sys; c = socket.create_connection(('127.0.0.1', %d)); c.settimeout(60); print(c.recv(1))" % port
        for _ in range(5):
            stranger = subprocess.run([setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-c", code],
                                      capture_output=True, timeout=PATIENCE)
            # Refused at once, or cut off.
            assert b"b''" in stranger.stdout or b"ConnectionReset" in stranger.stderr, stranger
            strangers += 1
    for thread in threads:
        thread.join()
    assert program.poll() is None, "the program has ended: %r" % said
    assert items() in ("none", "0"), "somebody else has started the program"
    started = time.monotonic()
    assert Right(port).run(token) == 0
    assert program.wait(PATIENCE) == 0, said
    assert items() == "1"
    for client in silent:
        client.close()
    print("%d knocks, %d of another user: the right client got in after %.2f s; seed %d"
          % (knocks, strangers, time.monotonic() - started, seed))


try:
    main()
finally:
    shutil.rmtree(root, ignore_errors=True)
