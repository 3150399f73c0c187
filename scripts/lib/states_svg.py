"""states_svg.py FILE: draws the states of an application, and the callbacks on the transitions between them.

docs/life-cycle.md and docs/chapter.md show the drawing; `:states` draws the same at the prompt. It is light or dark as the page is.
"""

import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 860, 470
# A state: its place, and what an application does in it.
STATES = {
    "not running": (20, 40, ["not visible", "no events, no code"]),
    "inactive": (340, 40, ["mostly visible", "code, no events"]),
    "active": (660, 40, ["visible", "events and code"]),
    "background": (340, 200, ["not visible", "code, no events"]),
    "suspended": (340, 360, ["not visible", "in memory, no code"]),
}
WIDE, HIGH = 170, 80
# A transition: its line, the lines of its text, where the text is, and how it is aligned. What no callback tells is dashed.
ARROWS = [
    ("M190 80 H332", ["willFinishLaunching", "didFinishLaunching"], 262, 52, "middle", True),
    ("M510 65 H652", ["didBecomeActive"], 582, 56, "middle", True),
    ("M660 95 H518", ["willResignActive"], 588, 114, "middle", True),
    ("M395 120 V192", ["didEnterBackground", "(save)"], 387, 152, "end", True),
    ("M455 200 V128", ["willEnterForeground"], 463, 162, "start", True),
    ("M395 280 V352", ["Ctrl-Z: it stops"], 387, 320, "end", False),
    ("M455 360 V288", ["fg, or bg:", "didResumeInBackground"], 463, 314, "start", False),
    ("M340 240 H105 V128", ["willTerminate"], 222, 232, "middle", True),
    ("M340 400 H60 V128", ["memory is reclaimed:", "no callback"], 200, 378, "middle", False),
]
STYLE = """
.paper { fill: #ffffff; }
text { fill: #333338; }
.callback { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: 11.5px; }
.name { font-size: 15px; font-weight: bold; }
.note { fill: #66666c; }
.box { fill: #f2f5f9; stroke: #2b6cb0; stroke-width: 1.5; }
.way { fill: none; stroke: #55555c; stroke-width: 1.4; }
.silent { stroke-dasharray: 5 4; }
.head { fill: #55555c; }
@media (prefers-color-scheme: dark) {
.paper { fill: #1c1c1f; }
text { fill: #e6e6ea; }
.note { fill: #a5a5ad; }
.box { fill: #24303d; stroke: #6cb2f5; }
.way { stroke: #b5b5bd; }
.head { fill: #b5b5bd; }
}
"""


def drawing():
    title = "The states of an application, and their transitions"
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
             'font-family="system-ui, sans-serif" font-size="12">',
             f"<title>{title}</title>", f"<style>{STYLE}</style>",
             '<defs><marker id="head" viewBox="0 0 10 10" refX="2" refY="5" markerWidth="8" markerHeight="8" orient="auto">'
             '<path class="head" d="M0 0 L10 5 L0 10 z"/></marker></defs>',
             f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>']
    for line, texts, x, y, anchor, is_told in ARROWS:
        kind = "way" if is_told else "way silent"
        lines.append(f'<path class="{kind}" d="{line}" marker-end="url(#head)"/>')
        for place, text in enumerate(texts):
            lines.append(f'<text class="callback" x="{x}" y="{y + 14 * place}" text-anchor="{anchor}">{escape(text)}</text>')
    for name, (left, top, notes) in STATES.items():
        lines.append(f'<rect class="box" x="{left}" y="{top}" width="{WIDE}" height="{HIGH}" rx="8"/>')
        middle = left + WIDE / 2
        lines.append(f'<text class="name" x="{middle:.0f}" y="{top + 28}" text-anchor="middle">{name}</text>')
        for place, note in enumerate(notes):
            lines.append(f'<text class="note" x="{middle:.0f}" y="{top + 48 + 16 * place}" text-anchor="middle">{note}</text>')
    return "\n".join(lines + ["</svg>", ""])


with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write(drawing())
