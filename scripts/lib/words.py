"""words.py ROOT: refuses words that belong to no reader of messages and pages, and names each place.

Read are the string literals of the sources and the text of the pages. Each pattern has what to write instead; names in the
sources are not read.
"""
import os
import re
import sys

WORDS = [
    (r"(?<![Tt]here )\b(is|are|was|were) no (?!longer\b|more\b|matter\b|good\b|doubt\b|secret\b)(such )?(\\\(|[A-Za-z]+\b(?! (is|are|has|have|ends|fails)\b))",
     "is not a …"),
    (r"\b(can|could|may|must|will) be no [a-z]", "cannot be a …"),
    (r"\btakes nothing behind\b", "takes no argument"),
    (r"\bwhat the sandbox lets in\b", "outside the sandbox"),
    (r"\bothers than\b", "somebody other than"),
    (r"\bkept aside\b", "quarantined"),
    (r"\b(untold|deeds?|goOn|takeBack)\b", "unpublished, actions, resume, undo"),
    (r"\b(time was up)\b", "time is up: the limit is …"),
]
PATTERNS = [(re.compile(pattern), instead) for pattern, instead in WORDS]
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def literals(text):
    """The string literals of Swift or C, with their lines. Comments have none, texts of several lines are one each line."""
    isLong = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith(("//", "*", "/*")) and not isLong:
            continue
        if line.count('"""') == 1:
            isLong = not isLong
        elif isLong:
            yield number, line
        else:
            for literal in LITERAL.findall(line.split(" // ")[0]):
                yield number, literal


def prose(text):
    """The lines of a page outside of its blocks."""
    isBlock = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            isBlock = not isBlock
        elif not isBlock:
            yield number, line


root = sys.argv[1]
faults = 0
for folder, endings, read in [("Sources", (".swift", ".c"), literals), ("docs", (".md",), prose)]:
    for parent, _, names in sorted(os.walk(os.path.join(root, folder))):
        for name in sorted(names):
            if not name.endswith(endings):
                continue
            path = os.path.join(parent, name)
            with open(path, encoding="utf-8") as file:
                for number, text in read(file.read()):
                    for pattern, instead in PATTERNS:
                        if found := pattern.search(text):
                            faults += 1
                            print(f"{os.path.relpath(path, root)}:{number}: “{found[0]}”; write: {instead}")
sys.exit(bool(faults))
