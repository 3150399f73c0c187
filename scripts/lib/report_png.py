"""report_png.py BINARY FILE.png: the household's report, as a browser shows its first page.

docs/images.md shows it. It needs firefox or chromium; nothing in the picture is drawn by hand.
"""

import os
import shutil
import subprocess
import sys
import tempfile

binary, target = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WIDTH, HEIGHT = 820, 760


def run(*words, folder=root):
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{words[0]}: {done.stderr}{done.stdout}")


with tempfile.TemporaryDirectory() as home:
    environment = {**os.environ, "HOME": home, "MOZ_HEADLESS": "1", "TZ": "UTC"}
    data, page = root + "/examples/data", home + "/report.html"
    container = ["--container", home + "/c"]
    run(binary, "import", *container, data + "/household.csv", "--key", "name", "--pictures", data + "/pictures",
        "--by", "picture")
    run(binary, "report", *container, "--title", "Household of 12 Elm Street", "--date", "2026-01-31", "--columns",
        "serialNumber,dateCreated,category,notes", "picture != nil", page)
    picture, size = home + "/report.png", f"--window-size={WIDTH},{HEIGHT}"
    if browser := shutil.which("firefox"):
        run(browser, "--headless", "--profile", home, "--screenshot", picture, size, "file://" + page, folder=home)
    elif browser := shutil.which("chromium"):
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        run(browser, "--headless", *sandbox, "--hide-scrollbars", "--screenshot=" + picture, size, page, folder=home)
    else:
        sys.exit("a browser is needed: apt install firefox-esr")
    shutil.copy(picture, target)
