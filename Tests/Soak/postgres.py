"""PostgreSQL servers of a trial's own, each in a folder below the trial's."""
import os, pwd, signal, subprocess, sys, time

as_user = []
if os.getuid() == 0:
    # PostgreSQL refuses root.
    as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
versions = sorted((v for v in os.listdir("/usr/lib/postgresql") if v.isdigit()), key=int)
tools = f"/usr/lib/postgresql/{versions[-1]}/bin"


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def own(folder):
    """Makes a folder that the server's user has."""
    os.makedirs(folder, exist_ok=True)
    if as_user:
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)


class Server:
    """A server in a folder, on a socket there, and on a TCP port of the addresses if there are any."""

    def __init__(self, folder, addresses="", port=5432, primary=None, options=""):
        self.folder, self.data, self.port = folder, f"{folder}/data", port
        self.options = f"-k {folder} -c listen_addresses='{addresses}' -c port={port} -c max_connections=100 {options}"
        # Beside the folder: a disk that is full has no room for it.
        self.log = f"{folder}.log"
        own(os.path.dirname(folder))
        own(folder)
        if primary:
            where = f"host={primary.folder} port={primary.port} user=owner application_name=standby"
            run(*as_user, f"{tools}/pg_basebackup", "-D", self.data, "-R", "-c", "fast", "-d", where)
        else:
            run(*as_user, f"{tools}/initdb", "-D", self.data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale=C")
            with open(f"{self.data}/pg_hba.conf", "a") as file:
                file.write("host all all all trust\n")

    def start(self):
        words = ["-D", self.data, "-w", "-l", self.log, "-o", self.options, "start"]
        run(*as_user, f"{tools}/pg_ctl", *words)

    def sql_if_possible(self, text):
        try:
            return self.sql(text)
        except SystemExit:
            return None

    def restart_if_ended(self):
        end = time.time() + 5
        while time.time() < end:
            if self.sql_if_possible("select 1"):
                return
            time.sleep(0.5)
        self.stop()
        self.start()

    def configure(self, line):
        """Adds a line to the configuration, for the next start or reload."""
        with open(f"{self.data}/postgresql.conf", "a") as file:
            file.write(line + "\n")

    def promote(self):
        run(*as_user, f"{tools}/pg_ctl", "-D", self.data, "-w", "promote")

    def stop(self, how=signal.SIGQUIT):
        """Ends the server, without order if not said: it has to recover when it is started again."""
        try:
            pid = int(open(f"{self.data}/postmaster.pid").readline())
        except FileNotFoundError:
            return
        os.kill(pid, how)
        while os.path.exists(f"/proc/{pid}") and open(f"/proc/{pid}/stat").read().split()[2] != "Z":
            time.sleep(0.01)

    def sql(self, text, database="postgres"):
        words = ["-h", self.folder, "-p", str(self.port), "-U", "owner", "-d", database, "-qAtX", "-v", "ON_ERROR_STOP=1"]
        return run(f"{tools}/psql", *words, "-c", text).strip()

    def url(self, collection, host=None, user="owner", database="postgres"):
        return f"postgres://{user}@/{database}?host={host or self.folder}&port={self.port}&collection={collection}"
