"""Speaks with `cubby kernel` as a notebook's front end does, by libzmq and Python's own HMAC.

notebook_client.py CUBBY CONTAINER     prints a line for each step that went as it should, and exits with 1 at the first other
"""
import atexit
import ctypes
import hashlib
import hmac
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

cubby, container = sys.argv[1:3]
PATIENCE = 60 * int(os.environ.get("CUBBY_PATIENCE", "1"))
KEY = b"of this test"
REQ, DEALER, SUB = 3, 5, 2
zmq = ctypes.CDLL("libzmq.so.5")
for name in ("zmq_ctx_new", "zmq_socket"):
    getattr(zmq, name).restype = ctypes.c_void_p
zmq.zmq_socket.argtypes = [ctypes.c_void_p, ctypes.c_int]
zmq.zmq_connect.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
zmq.zmq_setsockopt.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
zmq.zmq_getsockopt.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)]
zmq.zmq_send.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
zmq.zmq_recv.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
RECEIVE_MORE, RECEIVE_TIMEOUT, SUBSCRIBE, IDENTITY, SEND_MORE = 13, 27, 6, 5, 2


class Socket:
    def __init__(self, kind, port):
        self.handle = zmq.zmq_socket(CONTEXT, kind)
        timeout = ctypes.c_int(PATIENCE * 1000)
        zmq.zmq_setsockopt(self.handle, RECEIVE_TIMEOUT, ctypes.byref(timeout), 4)
        if kind == SUB:
            zmq.zmq_setsockopt(self.handle, SUBSCRIBE, b"", 0)
        if kind == DEALER:
            # The same on all sockets: questions come back to who has asked for the cell.
            zmq.zmq_setsockopt(self.handle, IDENTITY, b"front end", 9)
        zmq.zmq_connect(self.handle, b"tcp://127.0.0.1:%d" % port)

    def send(self, *frames):
        for place, frame in enumerate(frames):
            zmq.zmq_send(self.handle, frame, len(frame), SEND_MORE if place < len(frames) - 1 else 0)

    def receive(self):
        frames, buffer = [], ctypes.create_string_buffer(1 << 20)
        more, size = ctypes.c_int(1), ctypes.c_size_t(4)
        while more.value:
            count = zmq.zmq_recv(self.handle, buffer, len(buffer), 0)
            assert count >= 0, "nothing came in time"
            frames.append(buffer.raw[:count])
            zmq.zmq_getsockopt(self.handle, RECEIVE_MORE, ctypes.byref(more), ctypes.byref(size))
        return frames


def signature(parts):
    return hmac.new(KEY, b"".join(parts), hashlib.sha256).hexdigest().encode()


class Kernel:
    """A kernel of its own process, and the sockets of one front end."""

    def __init__(self, *prefix, environment={}):
        doors = [socket.socket() for _ in range(5)]
        for door in doors:
            door.bind(("127.0.0.1", 0))
        names = ["shell_port", "iopub_port", "stdin_port", "control_port", "hb_port"]
        ports = {name: door.getsockname()[1] for name, door in zip(names, doors)}
        self.file = tempfile.NamedTemporaryFile("w", suffix=".json")
        json.dump({**ports, "ip": "127.0.0.1", "transport": "tcp", "key": KEY.decode(), "signature_scheme": "hmac-sha256"}, self.file)
        self.file.flush()
        for door in doors:
            door.close()
        command = [*prefix, cubby, "kernel", "--container", container, "-f", self.file.name]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env={**os.environ, **environment})
        atexit.register(self.process.kill)
        self.shell, self.control = (Socket(DEALER, ports[name]) for name in ("shell_port", "control_port"))
        self.ports = ports
        self.iopub, self.heartbeat = Socket(SUB, ports["iopub_port"]), Socket(REQ, ports["hb_port"])
        self.count = 0
        while self.read(self.iopub)[0] != "iopub_welcome":
            pass

    def send(self, channel, kind, content, key=True):
        self.count += 1
        header = {"msg_type": kind, "msg_id": str(self.count), "session": "s", "username": "u", "version": "5.4"}
        parts = [json.dumps(part).encode() for part in (header, {}, {}, content)]
        channel.send(b"<IDS|MSG>", signature(parts) if key else b"0" * 64, *parts)
        return str(self.count)

    def read(self, channel):
        frames = channel.receive()
        frames = frames[frames.index(b"<IDS|MSG>") + 1:]
        assert signature(frames[1:5]) == frames[0], "a wrong signature"
        header, parent, _, content = (json.loads(part) for part in frames[1:5])
        return header["msg_type"], content, parent.get("msg_id")

    def execute(self, code, **more):
        return self.send(self.shell, "execute_request", {"code": code, **more})

    def begin(self, code):
        """A cell without an end, and what it does first: it runs when this returns."""
        self.execute(code + " print('runs') while true do end")
        while self.read(self.iopub)[0] != "stream":
            pass

    def until_idle(self, message):
        """What all front ends hear of a request."""
        heard = []
        while True:
            kind, content, parent = self.read(self.iopub)
            if parent != message:
                continue
            if kind == "status" and content["execution_state"] == "idle":
                return heard
            heard.append((kind, content))

    def run(self, code, **more):
        heard = self.until_idle(self.execute(code, **more))
        return heard, self.read(self.shell)[1]


def step(text, condition, *seen):
    if not condition:
        sys.exit("not so: %s: %r" % (text, seen))
    print(text)


CONTEXT = ctypes.c_void_p(zmq.zmq_ctx_new())
kernel = Kernel()
kernel.heartbeat.send(b"\0beat")
step("a heartbeat comes back", kernel.heartbeat.receive() == [b"\0beat"])
kernel.send(kernel.shell, "kernel_info_request", {})
info = kernel.read(kernel.shell)[1]
step("the kernel says what it is", info["protocol_version"] == "5.4" and info["language_info"]["name"] == "lua", info)
kernel.send(kernel.shell, "execute_request", {"code": "items:createItem{ name = 'forged' }"}, key=False)
heard, reply = kernel.run("print('shown') return #items")
step("a forged message is not obeyed", dict(heard)["execute_result"]["data"]["text/plain"] == "0", heard)
step("what a cell prints is told", dict(heard)["stream"] == {"name": "stdout", "text": "shown\n"} and reply["status"] == "ok", heard)

# The channel for questions is connected when the question is asked already, as it comes on a busy machine.
message = kernel.execute("items:createItem{ name = 'Lamp' } return io.read() .. '!'", allow_stdin=True)
while kernel.read(kernel.iopub)[0] != "execute_input":
    pass
time.sleep(0.2)
stdin = Socket(DEALER, kernel.ports["stdin_port"])
step("a script's read asks, also who connects late", kernel.read(stdin)[0] == "input_request")
kernel.send(stdin, "input_reply", {"value": "Ada"})
heard = dict(kernel.until_idle(message))
step("the answer arrives", heard["execute_result"]["data"]["text/plain"] == '"Ada!"', heard)
kernel.read(kernel.shell)

second = Kernel()
reply = second.run("items:createItem{ name = 'Second' }")[1]
step("a second kernel on the container refuses its cells, and names the way",
     reply["status"] == "error" and "is in use by" in reply["evalue"] and "cubby attach" in reply["evalue"], reply)
second.send(second.control, "shutdown_request", {"restart": False})
step("and ends in order", second.process.wait(PATIENCE) == 0, second.process.returncode)

kernel.begin("")
kernel.heartbeat.send(b"beat")
step("a heartbeat comes back while a cell runs", kernel.heartbeat.receive() == [b"beat"])
kernel.send(kernel.control, "interrupt_request", {})
step("an interrupt is answered", kernel.read(kernel.control)[0] == "interrupt_reply")
step("and stops the cell", kernel.read(kernel.shell)[1]["ename"] == "Interrupted")

kernel.begin("items:createItem{ name = 'Desk' }")
kernel.send(kernel.control, "shutdown_request", {"restart": True})
step("the end is answered", kernel.read(kernel.control)[1]["restart"])
step("and comes while a cell runs", kernel.process.wait(PATIENCE) == 0, kernel.process.returncode)

# A server that starts its kernel and is killed: the kernel notices by the name of its starter.
starter = subprocess.Popen(["sleep", "1000"])
atexit.register(starter.kill)
kernel = Kernel(environment={"JPY_PARENT_PID": str(starter.pid)})
heard = dict(kernel.run("return #items")[0])
step("what was committed is there again", heard["execute_result"]["data"]["text/plain"] == "2", heard)
kernel.begin("items:createItem{ name = 'Chair' }")
starter.send_signal(signal.SIGKILL)
starter.wait()
step("a kernel whose server is gone ends in order", kernel.process.wait(PATIENCE) == 0, kernel.process.returncode)
kernel = Kernel()
heard = dict(kernel.run("return #items")[0])
step("with what its cell had changed", heard["execute_result"]["data"]["text/plain"] == "3", heard)
kernel.process.send_signal(signal.SIGTERM)
step("SIGTERM ends it in order", kernel.process.wait(PATIENCE) == 0, kernel.process.returncode)
