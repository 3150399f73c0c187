"""Shows plots in headless Chromium, and judges whether their texts can be read.

plot_texts.py CHROMIUM SVG…    each text is within its drawing, and none is on another one
"""
import html
import json
import os
import re
import subprocess
import sys
import tempfile

SCRIPT = """
const texts = [...document.querySelectorAll('svg text')].map(text => {
  const box = text.getBoundingClientRect();
  return [text.textContent, box.left, box.top, box.right, box.bottom];
});
const drawing = document.querySelector('svg').getBoundingClientRect();
document.body.innerHTML = '';
document.body.append(JSON.stringify({ width: drawing.width, height: drawing.height, texts }));
"""


def measure(chromium, path):
    """The size of the drawing, and its texts with their boxes, as Chromium lays them out."""
    with tempfile.TemporaryDirectory() as folder:
        page = f"{folder}/page.html"
        drawing = open(path, encoding="utf-8").read()
        with open(page, "w", encoding="utf-8") as file:
            file.write(f"<!DOCTYPE html><meta charset=utf-8><body style='margin:0'>{drawing}<script>{SCRIPT}</script>")
        # Chromium has no sandbox for root; it shows our own file, and nothing else.
        run = subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile", "--dump-dom",
             f"file://{page}"], capture_output=True, text=True, timeout=120)
        body = re.search(r"<body[^>]*>(.*)</body>", run.stdout, re.S)
        if not body:
            sys.exit(f"{chromium} shows nothing of {path}:\n{run.stderr}")
        return json.loads(html.unescape(body[1]))


def judge(chromium, path):
    shown = measure(chromium, path)
    texts, faults = shown["texts"], []
    if not texts:
        faults.append("no text")
    for place, (text, left, top, right, bottom) in enumerate(texts):
        if left < 0 or top < 0 or right > shown["width"] or bottom > shown["height"]:
            faults.append(f"beyond the edge: {text}")
        for other, others_left, others_top, others_right, others_bottom in texts[:place]:
            # Boxes have room for accents and descenders that the texts seldom have.
            across = min(right, others_right) - max(left, others_left)
            down = min(bottom, others_bottom) - max(top, others_top)
            if across > 1 and down > 4:
                faults.append(f"on one another: {other} and {text}")
    for fault in faults:
        print(f"{os.path.basename(path)}: {fault}")
    return not faults


if not all([judge(sys.argv[1], path) for path in sys.argv[2:]]):
    sys.exit(1)
