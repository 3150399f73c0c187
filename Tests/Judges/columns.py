"""Renders drawings of terminal screens in headless Chromium, and judges whether each character is in its column.

columns.py CHROMIUM SVG…    a cell with a character has ink, a cell without one has none

The texts of a drawing have the column of their first character, of 8.4 units from 16 on, and lines of 18 units.
"""
import os
import subprocess
import sys
import tempfile
import unicodedata
import xml.etree.ElementTree as ElementTree

from PIL import Image

CELL, LINE, LEFT, TOP = 8.4, 18, 16, 40
SCALE = 2
SVG = "{http://www.w3.org/2000/svg}"


def render(chromium, path, width, height):
    """The drawing as Chromium shows it, SCALE pixels a unit."""
    with tempfile.TemporaryDirectory() as folder:
        picture = f"{folder}/picture.png"
        # Chromium has no sandbox for root; it shows our own file, and nothing else.
        run = subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             f"--user-data-dir={folder}/profile", f"--force-device-scale-factor={SCALE}",
             f"--window-size={width},{height}", f"--screenshot={picture}", f"file://{os.path.abspath(path)}"],
            capture_output=True, text=True, timeout=120)
        if not os.path.exists(picture):
            sys.exit(f"{chromium} made no picture of {path}:\n{run.stderr}")
        return Image.open(picture).convert("RGB")


def columns_of(texts):
    """By row, the columns that have a visible character."""
    rows = {}
    for text in texts:
        row = round((float(text.get("y")) - 13 - TOP) / LINE)
        column = round((float(text.get("x")) - LEFT) / CELL)
        for character in text.text or "":
            width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
            if not character.isspace():
                rows.setdefault(row, set()).update(range(column, column + width))
            column += width
    return rows


def has_ink(picture, row, column):
    """Whether the inner part of a cell has a second colour; its edges may have parts of the neighbours."""
    left = (LEFT + column * CELL + 1.5) * SCALE
    top = (TOP + row * LINE) * SCALE
    cell = picture.crop((round(left), round(top), round(left + (CELL - 3) * SCALE), round(top + LINE * SCALE)))
    return any(high - low > 40 for low, high in cell.getextrema())


def judge(chromium, path):
    root = ElementTree.parse(path).getroot()
    width, height = int(root.get("width")), int(root.get("height"))
    picture = render(chromium, path, width, height)
    if picture.size != (width * SCALE, height * SCALE):
        sys.exit(f"{path}: the picture has {picture.size} pixels")
    expected = columns_of(root.iter(f"{SVG}text"))
    # Cells of pictures have two colours, and no text.
    drawn = set()
    for shape in root.iter(f"{SVG}rect"):
        if (shape.get("height") or "") == "9":
            row = int((float(shape.get("y")) - TOP) // LINE)
            first = round((float(shape.get("x")) - LEFT) / CELL)
            drawn.update((row, first + index) for index in range(round(float(shape.get("width")) / CELL)))
    faults = []
    for row in range((height - 56) // LINE):
        for column in range(int((width - 2 * LEFT) / CELL)):
            if (row, column) in drawn:
                continue
            wanted = column in expected.get(row, ())
            if has_ink(picture, row, column) != wanted:
                faults.append(f"row {row + 1}, column {column + 1}: {'no character' if wanted else 'a character'}")
    if faults:
        print(f"{path}: {len(faults)} cells differ")
        print("\n".join(faults[:10]))
    return not faults


if not all([judge(sys.argv[1], path) for path in sys.argv[2:]]):
    sys.exit(1)
