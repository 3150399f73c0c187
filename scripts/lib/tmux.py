"""A program in a window of tmux: what is typed, and the screen."""

import os
import re
import subprocess
import time


class Tmux:
    """A window of a separate tmux server."""

    count = 0

    def __init__(self, command, home, columns, rows, environment=None):
        # A killed server does not exit at once.
        Tmux.count += 1
        self.socket = f"captures-{os.getpid()}-{Tmux.count}"
        environment = {"HOME": home, "IPYTHONDIR": home, "TERM": "screen-256color", "LANG": "C.UTF-8", "PAGER": "", "TZ": "UTC",
                       "PATH": os.environ["PATH"], "CUBBY_CONTAINER": home + "/container", **(environment or {})}
        quoted = " ".join(f"'{part}'" for part in command)
        assignments = " ".join(f"{key}='{value}'" for key, value in environment.items())
        self.run("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", home,
                 f"trap : INT; env -i {assignments} {quoted}; printf '(the process has ended: %s)' $?; sleep 1000")

    def run(self, *arguments):
        return subprocess.run(["tmux", "-L", self.socket, *arguments], check=True, capture_output=True, text=True).stdout

    def screen(self):
        return self.run("capture-pane", "-p").rstrip("\n")

    def settle(self, wanted=None, limit=20.0):
        """Waits until the screen is stable and its last line has a pattern, and returns it."""
        end, last, since = time.time() + limit, None, time.time()
        while time.time() < end:
            now = self.screen()
            if now != last:
                last, since = now, time.time()
            line = now.split("\n")[-1] + (" " if now and not now.endswith(" ") else "")
            if time.time() - since > 0.35 and (wanted is None or re.search(wanted, line)):
                return now
            time.sleep(0.05)
        return last

    def type(self, text):
        if text == "^C":
            time.sleep(0.7)
        if len(text) == 2 and text[0] == "^":
            self.run("send-keys", "C-" + text[1].lower())
        elif text.endswith("^I"):
            self.run("send-keys", "-l", "--", text[:-2])
            time.sleep(0.3)
            self.run("send-keys", "Tab")
        else:
            if text:
                self.run("send-keys", "-l", "--", text)
            self.run("send-keys", "Enter")

    def end(self):
        # A process that survives its terminal would run forever.
        pid = self.run("display-message", "-p", "#{pane_pid}").strip()
        subprocess.run(["pkill", "-KILL", "-s", pid])
        subprocess.run(["tmux", "-L", self.socket, "kill-server"], capture_output=True)


def without_times(screen):
    """A screen with what varies replaced."""
    screen = re.sub(r" *\b\d[\d.,]* (ns|µs|ms|s)\b", " (time)", screen)
    screen = re.sub(r"(\(time\)) +\d+ %", r"\1 (share) %", screen)
    screen = re.sub(r"\d[\d,]* (sample|round|run)s?\b", r"(count) \1s", screen)
    screen = re.sub(r"\ba run \([\s\S]*?runs\)", "a run (rounds)", screen)
    screen = re.sub(r"0x[0-9a-f]{6,}", "0x(address)", screen)
    # The replacements keep the width, but for fractions of seconds, behind which nothing is aligned.
    screen = re.sub(r"20\d\d-\d\d-\d\d \d\d:\d\d", "2026-01-01 00:00", screen)
    screen = re.sub(r"(00:00):\d\d(\.\d+)?", r"\1:00", screen)
    return screen
