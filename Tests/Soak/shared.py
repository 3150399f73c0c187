"""Several hosts on one collection, under faults: see bank.py for what they do and what is judged.

usage: shared.py PROGRAM [SECONDS [HOSTS [PART…]]]

    kills    hosts are killed with SIGKILL, and the server with SIGQUIT, which makes it recover
    standby  the primary is killed and its synchronous standby promoted; the old one comes back; a standby goes away; a
             standby that was asynchronous is promoted and lacks commits
    network  hosts in network namespaces, whose links go down for up to a minute (as root, with iproute2)
    disk     the server's disk is full, and well again (as root)
    away     hosts that go on while the server is away, and come back
    links    hosts far away, or on a slow link, beside others that commit all the time
    history  transactions of nine sorts under all of these faults, judged as a whole: see history.py
"""
import ctypes, os, random, shutil, subprocess, sys, tempfile, time, traceback

from away import away
from bank import Bank
from history import history
from links import links
from postgres import Server, own

program = os.path.abspath(sys.argv[1])
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60
count = int(sys.argv[3]) if len(sys.argv) > 3 else 8
parts = sys.argv[4:] or ["kills", "standby", "network", "disk", "away", "links", "history"]


def kills(root):
    server = Server(f"{root}/server")
    server.start()
    bank = None
    try:
        url = server.url("bank")
        bank = Bank(program, root, url, [url] * count)
        end, killed, restarts = time.time() + seconds, 0, 0
        while time.time() < end:
            time.sleep(random.uniform(0.3, 1.2))
            if random.random() < 0.2:
                server.stop()
                time.sleep(random.uniform(0, 0.5))
                server.start()
                restarts += 1
            else:
                host = random.choice(bank.hosts)
                host.kill()
                host.start()
                killed += 1
            for host in bank.hosts:
                if host.process.poll() is not None:
                    host.start()
        return bank.judge(server, f"kills: {count} hosts, {seconds:.0f} s, {killed} hosts and {restarts} servers killed")
    finally:
        end_all(bank, server)


def standby(root):
    faults = 0
    first = Server(f"{root}/first", port=5433)
    second = bank = None
    try:
        first.start()
        second = Server(f"{root}/second", port=5434, primary=first)
        second.start()
        first.configure("synchronous_standby_names = 'standby'")
        first.sql("select pg_reload_conf()")
        # cubby itself looks for the one that takes commits.
        both = f"postgres://owner@/postgres?host={first.folder},{second.folder}&port=5433,5434&collection=bank"
        bank = Bank(program, root, both, [both] * count)
        time.sleep(seconds / 4)

        print("standby: it goes away, and comes back")
        second.stop()
        time.sleep(15)
        before = bank.kept()
        time.sleep(3)
        if bank.kept() != before:
            faults += fault("commits were acknowledged without the synchronous standby")
        second.start()
        late = bank.wait_for_steps(60)
        if late:
            faults += fault(f"{late} did not go on")

        print("standby: the primary is killed, and the standby promoted")
        time.sleep(seconds / 4)
        first.stop()
        second.promote()
        late = bank.wait_for_steps(60)
        if late:
            faults += fault(f"{late} did not go on")

        print("standby: the old primary comes back as it was, and acknowledges without a standby")
        first.configure("synchronous_standby_names = ''")
        first.start()
        old = first.sql("select head from cubby.collection where name = 'bank'")
        second.stop()
        time.sleep(1)
        second.start()
        late = bank.wait_for_steps(60)
        if late:
            faults += fault(f"{late} did not go on")
        if first.sql("select head from cubby.collection where name = 'bank'") != old:
            faults += fault("hosts committed on the old primary")
        first.stop()
        bank.url = second.url("bank")
        faults += bank.judge(second, f"standby: {count} hosts")
        told = sum("former primary" in open(host.log + ".errors").read() for host in bank.hosts)
        print(f"    {told} hosts met the old primary, and said so")
    finally:
        end_all(bank, first, *([second] if second else []))
    return faults + asynchronous(f"{root}/asynchronous")


def asynchronous(root):
    """A standby without all commits is promoted: hosts say so, change nothing, and a new start has what it has."""
    first = Server(f"{root}/first", port=5433)
    second = host = None
    try:
        first.start()
        second = Server(f"{root}/second", port=5434, primary=first)
        second.start()
        both = f"postgres://owner@/postgres?host={first.folder},{second.folder}&port=5433,5434&collection=bank"
        cubby("shared", "init", both)
        words = ["--container", f"{root}/host", "--shared", both]
        cubby(*words, "-e", "items:createItem{ itemKey = 'kept' }")
        while second.sql("select count(*) from cubby.item") != "1":
            time.sleep(0.1)
        second.stop()
        code = (
            "items:createItem{ itemKey = 'lost' } timer.sleep(0) print('made') io.flush() "
            "while items.isConnected do timer.sleep(0.1) end "
            "while true do print(pcall(items.createItem, items)) io.flush() timer.sleep(0.5) end")
        host = subprocess.Popen(
            [program, *words, "-e", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        host.stdout.readline()
        first.stop()
        second.start()
        second.promote()
        # As many commits as the host knows, and more.
        cubby("--container", f"{root}/other", "--shared", both, "-e",
              "for n = 1, 3 do items:createItem{ itemKey = 'new ' .. n } timer.sleep(0) end")
        end, said = time.time() + 40, []
        while not any(line.startswith("false") and "another history" in line for line in said) and time.time() < end:
            said.append(host.stdout.readline())
        if not any("another history" in line for line in said) or any(line.startswith("true") for line in said):
            return fault(f"a host whose commit is lost said: {said[-5:]}")
        host.kill()
        keys = cubby(*words, "-e", "for _, item in ipairs(items) do print(item.itemKey) end").split("\n")
        if sorted(keys) != ["", "kept", "new 1", "new 2", "new 3"]:
            return fault(f"a new start has {keys}")
        print("standby: an asynchronous one is promoted: a host whose commit is lost says so, and a new start has the rest")
        return 0
    finally:
        if host:
            host.kill()
        end_all(None, first, *([second] if second else []))


def network(root):
    if os.getuid() != 0 or not shutil.which("ip"):
        print("network: skipped, it needs root and iproute2")
        return 0
    CLONE_NEWNET = 0x40000000
    if ctypes.CDLL(None).unshare(CLONE_NEWNET) != 0:
        print("network: skipped, there are no network namespaces here")
        return 0
    server = Server(f"{root}/server", addresses="*")
    bank, spaces = None, []
    try:
        ip("link", "set", "lo", "up")
        for number in range(count):
            space = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
            spaces.append(space)
            while os.readlink(f"/proc/{space.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
                time.sleep(0.01)
            ip("link", "add", f"host{number}", "type", "veth", "peer", "name", "server", "netns", str(space.pid))
            ip("addr", "add", f"10.77.{number}.1/24", "dev", f"host{number}")
            ip("link", "set", f"host{number}", "up")
            inside = ["nsenter", "-t", str(space.pid), "-n"]
            subprocess.run([*inside, "ip", "addr", "add", f"10.77.{number}.2/24", "dev", "server"], check=True)
            subprocess.run([*inside, "ip", "link", "set", "server", "up"], check=True)
        server.start()
        urls = [f"postgres://owner@10.77.{n}.1/postgres?sslmode=disable&collection=bank" for n in range(count)]
        prefixes = [["nsenter", "-t", str(space.pid), "-n"] for space in spaces]
        bank = Bank(program, root, server.url("bank"), urls, prefixes)
        bank.wait_for_steps(30)
        # One link is down for a minute, the others for moments.
        ends, downs = {0: time.time() + min(seconds, 60)}, 1
        ip("link", "set", "host0", "down")
        end = time.time() + seconds
        while time.time() < end or ends:
            time.sleep(random.uniform(0.1, 0.5))
            for number in [number for number in ends if time.time() > ends[number]]:
                del ends[number]
                ip("link", "set", f"host{number}", "up")
            number = random.randrange(count)
            if number not in ends and len(ends) <= count // 2 and time.time() < end:
                ends[number] = min(time.time() + random.choice((0.2, 1, 5, 15)), end + 1)
                downs += 1
                ip("link", "set", f"host{number}", "down")
        late = bank.wait_for_steps(60)
        faults = fault(f"{late} did not go on") if late else 0
        return faults + bank.judge(server, f"network: {count} hosts, {seconds:.0f} s, {downs} times without a link")
    finally:
        end_all(bank, server)
        for space in spaces:
            space.kill()


def disk(root):
    CLONE_NEWNS = 0x20000
    if os.getuid() != 0 or ctypes.CDLL(None).unshare(CLONE_NEWNS) != 0:
        print("disk: skipped, it needs root and mounts of its own")
        return 0
    own(f"{root}/server")
    mount("--make-rprivate", "/")
    mount("-t", "tmpfs", "-o", "size=160m", "tmpfs", f"{root}/server")
    own(f"{root}/server")
    server = Server(f"{root}/server", options="-c max_wal_size=1GB -c min_wal_size=32MB -c shared_buffers=16MB")
    bank = None
    try:
        server.start()
        bank = Bank(program, root, server.url("bank"), [server.url("bank")] * count)
        rounds = max(2, int(seconds / 15))
        for round in range(rounds):
            bank.wait_for_steps(60)
            with open(f"{root}/server/filler", "wb", buffering=0) as filler:
                try:
                    while True:
                        filler.write(bytes(65536))
                except OSError:
                    pass
            time.sleep(8)
            # Every other time its log needs room as well: then it ends, and is started by whoever looks after it.
            if round % 2:
                server.sql_if_possible(
                    "select count(pg_logical_emit_message(false, '', repeat('x', 1000000))) from generate_series(1, 90)")
                time.sleep(3)
            os.remove(f"{root}/server/filler")
            server.restart_if_ended()
        late = bank.wait_for_steps(60)
        faults = fault(f"{late} did not go on") if late else 0
        told = sum("disk is full" in open(host.log).read() + open(host.log + ".errors").read() for host in bank.hosts)
        crashes = open(server.log).read().count("PANIC")
        faults += bank.judge(server, f"disk: {count} hosts, full {rounds} times, {crashes} times the server crashed")
        print(f"    {told} hosts said that the disk is full")
        return faults
    finally:
        end_all(bank, server)


def rejoin(root):
    server = Server(f"{root}/server")
    server.start()
    try:
        return away(program, root, server, seconds, count, cubby, fault)
    finally:
        server.stop()


def far(root):
    return links(program, root, seconds, count, fault)


def whole(root):
    return history(program, root, seconds, count, fault)


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def mount(*words):
    subprocess.run(["mount", *words], check=True)


def cubby(*words):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def fault(text):
    print("  FAULT: " + text)
    return 1


def end_all(bank, *servers):
    if bank:
        bank.stop()
    for server in servers:
        server.stop()


faults = 0
for part in parts:
    root = tempfile.mkdtemp(prefix="cubby-shared-")
    own(root)
    # In a process of its own: namespaces end with it.
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = {"kills": kills, "standby": standby, "network": network, "disk": disk, "away": rejoin,
                      "links": far, "history": whole}[part](root) and 1
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)
    if os.waitpid(child, 0)[1] == 0:
        shutil.rmtree(root, ignore_errors=True)
    else:
        faults += 1
        print(f"{part}: what was written is kept in {root}")
sys.exit(1 if faults else 0)
