#!/usr/bin/env python3
"""Tries the kernel of notebooks by Jupyter's own clients: jupyter_kernel_test, jupyter_client, nbclient.

kernel.py BINARY [CELLS]
kernel.py BINARY latency     the times of a cell and of an entry alone, for scripts/bench kernel

Runs in an environment that has them (scripts/soak kernel makes it). A notebook of CELLS cells (40) has to run twice with the
same results, and a cell has to be answered not much later than an entry at the prompt.
"""
import os, pty, select, shutil, statistics, subprocess, sys, tempfile, time, tty, unittest

import jupyter_kernel_test
import nbformat
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient

binary, times_only = sys.argv[1], sys.argv[2:3] == ["latency"]
count = int(sys.argv[2]) if len(sys.argv) > 2 and not times_only else 40
root = tempfile.mkdtemp(prefix="cubby-kernel-")
os.environ.update(HOME=root, JUPYTER_DATA_DIR=root + "/jupyter", MEMORY_PRESSURE_WATCH="/dev/null")
PATIENCE = 120


def install(name, *options):
    subprocess.run([binary, "kernel", "install", "--user", "--name", name, *options], check=True, stdout=subprocess.DEVNULL)


class Kernel(jupyter_kernel_test.KernelTests):
    kernel_name = "trial"
    language_name = "lua"
    file_extension = ".lua"
    code_hello_world = "print('hello, world')"
    code_stderr = "io.stderr:write('test\\n')"
    completion_samples = [{"text": "items:createIt", "matches": {"createItem"}}]
    complete_code_samples = ["1", "print('x')", "for i = 1, 2 do end"]
    incomplete_code_samples = ["for i = 1, 2 do", "print(", "x = [["]
    invalid_code_samples = ["x = = 1", "end"]
    code_generate_error = "error('no')"
    code_execute_result = [{"code": "6*7", "result": "42"}, {"code": "'a' .. 'b'", "result": '"ab"'}]
    code_display_data = [{"code": "image.open(PICTURE):show()", "mime": "image/png"}]
    code_history_pattern = "6?7"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "items"


class Welcome(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = "trial"
    support_iopub_welcome = True


def protocol():
    picture = root + "/picture.png"
    import struct, zlib
    row = b"\0" + b"\xff\0\0" * 8
    part = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(picture, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)))
        file.write(part(b"IDAT", zlib.compress(row * 8)) + part(b"IEND", b""))
    install("trial", "--container", root + "/trial", "--allow-read", picture)
    Kernel.code_display_data[0]["code"] = "image.open(%r):show()" % picture
    suite = unittest.TestSuite()
    # One after another: they have one container.
    for case in (Kernel, Welcome):
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    skipped = [str(test) for test, _ in result.skipped]
    print("jupyter_kernel_test: %d tests, not for this kernel: %s" % (result.testsRun, ", ".join(skipped) or "none"))
    return result.wasSuccessful()


CELLS = [
    "for i = 1, 5 do items:createItem{ name = 'Lamp {n}-' .. i, room = i % 2 == 0 and 'Hall' or 'Study', valueInDollars = i } end",
    "items:query('room == \"Hall\"'):sorted('name')",
    "%%sql\nselect room, count(*) as number from items group by room order by room",
    "items:query():groupBy('room')",
    "print('cell {n}', #items)",
    "items:query('name BEGINSWITH \"Lamp {n}\"'):sum('valueInDollars')",
    "items:query():plot{ x = 'room', y = 'valueInDollars' }",
    "local t = {}\nfor i = 1, 3 do t[i] = i * {n} end\nreturn t",
    ":undo",
    ":out",
]


def run_notebook(name):
    install(name, "--container", "%s/%s" % (root, name))
    notebook = nbformat.v4.new_notebook()
    for n in range(count):
        notebook.cells.append(nbformat.v4.new_code_cell(CELLS[n % len(CELLS)].replace("{n}", str(n))))
    NotebookClient(notebook, kernel_name=name, timeout=PATIENCE).execute()
    return [cell.outputs for cell in notebook.cells]


def notebooks():
    first, second = run_notebook("first"), run_notebook("second")
    differing = [n for n in range(count) if first[n] != second[n]]
    print("nbclient: %d cells, twice; different outputs: %s" % (count, differing or "none"))
    for n in differing[:3]:
        print(n, first[n], second[n])
    return not differing


def prompt_times(rounds):
    """The times of `1+1` at the prompt, from Return until its result is there."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "dumb"
        os.execv(binary, [binary, "--container", root + "/prompt"])
    tty.setraw(terminal)
    seen, times = b"", []

    def until(text):
        nonlocal seen
        while text not in seen:
            if not select.select([terminal], [], [], PATIENCE)[0]:
                sys.exit("the prompt says nothing: %r" % seen)
            seen += os.read(terminal, 65536)
        seen = seen[seen.index(text) + len(text):]

    until(b"> ")
    for n in range(rounds):
        start = time.perf_counter()
        os.write(terminal, b"1+%d\n" % (1000 + n))
        until(b"%d\n" % (1001 + n))
        times.append(time.perf_counter() - start)
        until(b"> ")
    os.write(terminal, b":quit\n")
    os.waitpid(child, 0)
    return times


def latency(rounds=200):
    install("latency", "--container", root + "/latency")
    manager, client = start_new_kernel(kernel_name="latency")
    times = []
    for n in range(rounds):
        start = time.perf_counter()
        message = client.execute("1+%d" % (1000 + n))
        while client.get_iopub_msg(timeout=PATIENCE)["msg_type"] != "execute_result":
            pass
        times.append(time.perf_counter() - start)
        client.get_shell_msg(timeout=PATIENCE)
        while client.get_iopub_msg(timeout=PATIENCE)["content"].get("execution_state") != "idle":
            pass
    message = client.execute("for i = 1, 150000 do print(i) end")
    lines = errors = ""
    while True:
        heard = client.get_iopub_msg(timeout=PATIENCE)
        if heard["msg_type"] == "stream":
            if heard["content"]["name"] == "stdout":
                lines += heard["content"]["text"]
            else:
                errors += heard["content"]["text"]
        if heard["content"].get("execution_state") == "idle":
            break
    client.stop_channels()
    manager.shutdown_kernel()
    ours, prompt = statistics.median(times) * 1000, statistics.median(prompt_times(rounds)) * 1000
    print("1+1, medians of %d: %.2f ms in a cell, %.2f ms at the prompt; %.2f ms more, of 5 at most" % (
        rounds, ours, prompt, ours - prompt))
    print("150,000 lines: %d shown; %s" % (lines.count("\n"), errors.strip()))
    return ours - prompt <= 5 and lines.count("\n") == 100000 and "50,000 lines more" in errors


def vanished():
    """A server that is killed in the middle of a cell: what the cell has changed is there afterwards."""
    install("gone", "--container", root + "/gone")
    server = subprocess.Popen(
        [sys.executable, "-c", "\n".join([
            "from jupyter_client.manager import start_new_kernel", "m, c = start_new_kernel(kernel_name='gone')",
            "c.execute(\"items:createItem{ name = 'kept' } print('runs') while true do end\")",
            "while c.get_iopub_msg(timeout=%d)['msg_type'] != 'stream': pass" % PATIENCE,
            "print(m.provisioner.process.pid, flush=True)", "import time", "time.sleep(%d)" % PATIENCE,
        ])], stdout=subprocess.PIPE, text=True)
    kernel = int(server.stdout.readline())
    server.kill()
    server.wait()
    deadline = time.time() + PATIENCE
    while os.path.exists("/proc/%d" % kernel) and time.time() < deadline:
        time.sleep(0.05)
    shown = subprocess.run([binary, "--container", root + "/gone", "-e", "#items"], capture_output=True, text=True).stdout
    print("a server that was killed: its kernel %s, and %s item is there" % ("goes on" if time.time() >= deadline else "has ended", shown.strip()))
    return shown == "1\n"


trials = (latency,) if times_only else (protocol, notebooks, latency, vanished)
failed = [trial.__name__ for trial in trials if not trial()]
shutil.rmtree(root, ignore_errors=True)
if failed:
    sys.exit("failed: " + ", ".join(failed))
