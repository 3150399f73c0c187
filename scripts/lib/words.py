"""words.py ROOT: refuses words that belong to no reader of messages, pages and sources, and names each place.

Read are the string literals of the sources, the text of the pages, and the identifiers of Swift: those have the field's
words. Each pattern has what to write instead.
"""
import functools
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

# Parts of identifiers, in lower case. `own` is for what is against another's, which no pattern can tell.
NAMES = [
    (r"others", "remote, peers, rest, or what they are (`other` is right for an operand)"),
    (r"kept", "pending, retained, stored or persisted"),
    (r"aside", "quarantined"),
    (r"presence", "validity (of a bitmap), foreground or existence"),
    (r"deeds?", "action"),
    (r"go(es)? on", "resume"),
    (r"note[sd]?|noting", "record; remark, if it is a text"),
    (r"tells?|told|untold|telling", "publish; report, if to a person"),
    (r"rooms?", "capacity"),
    (r"refusals?|refused", "error or denial"),
]
NAME = re.compile("|".join(rf"\b(?P<n{i}>{pattern})\b" for i, (pattern, _) in enumerate(NAMES)))
# Where a name with such a word is right: the place's line and its file, each a pattern, and why.
EXCEPTIONS = [
    (r"(\.|\bcase )note\b(?!\()", r"", "the severity below a warning, as compilers call it"),
    (r"\bothers\b", r"/Gallery/", "a key of the page's JSON, which its script reads"),
]
HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_|(?<=[A-Z])(?=[A-Z][a-z])")
# A comment, a string's beginning, a parenthesis, an identifier.
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|(?P<hashes>#*)(?P<quotes>"""|")|[()]|(?P<name>[A-Za-z_]\w*)', re.DOTALL)
CANDIDATE = re.compile(
    "[Oo]thers|[Kk]ept|[Aa]side|[Pp]resence|[Dd]eed|[Gg]o(es)?_?[Oo]n|[Nn]ot(e|ing)|[Tt]ell|told|Told|[Rr]oom|[Rr]efus")


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


def identifiers(text):
    """The identifiers of Swift with their offsets, those of interpolations, too."""
    position, depth, interpolated = 0, 0, []
    while found := TOKEN.search(text, position):
        position, string = found.end(), None
        if found["name"]:
            yield found["name"], found.start()
        elif found["quotes"]:
            string = found["quotes"], found["hashes"]
        elif found[0] == "(":
            depth += 1
        elif found[0] == ")":
            depth -= 1
            if interpolated and interpolated[-1][0] == depth:
                string = interpolated.pop()[1]
        while string:
            found = end(*string).search(text, position)
            position = found.end() if found else len(text)
            if found and found["escape"] == "(":
                interpolated.append((depth, string))
                depth += 1
            elif found and found["escape"]:
                continue
            string = None


@functools.cache
def end(quotes, hashes):
    """What ends a part of a string: its quotes, an escape (an interpolation, if it is a parenthesis), the line."""
    line = "|\n" if quotes == '"' else ""
    return re.compile(rf"\\{hashes}(?P<escape>.)|{quotes}{hashes}{line}", re.DOTALL)


def names(text, path):
    """The identifiers with a word of NAMES, with their lines, and what to write instead."""
    if not CANDIDATE.search(text):
        return
    for name, offset in identifiers(text):
        found = CANDIDATE.search(name) and NAME.search(HUMP.sub(" ", name).lower())
        if not found:
            continue
        start, stop = text.rfind("\n", 0, offset) + 1, text.find("\n", offset)
        line = text[start:stop if stop >= 0 else len(text)]
        if not any(re.search(file, path) and any(place.start() <= offset - start < place.end()
                   for place in re.finditer(pattern, line)) for pattern, file, _ in EXCEPTIONS):
            yield text.count("\n", 0, offset) + 1, name, NAMES[int(found.lastgroup[1:])][1]


root = sys.argv[1]
faults = 0
for folder, endings, read in [("Sources", (".swift", ".c"), literals), ("docs", (".md",), prose)]:
    for parent, _, files in sorted(os.walk(os.path.join(root, folder))):
        for file in sorted(files):
            if not file.endswith(endings):
                continue
            path = os.path.join(parent, file)
            shown = os.path.relpath(path, root)
            with open(path, encoding="utf-8") as opened:
                text = opened.read()
            for number, part in read(text):
                for pattern, instead in PATTERNS:
                    if found := pattern.search(part):
                        faults += 1
                        print(f"{shown}:{number}: “{found[0]}”; write: {instead}")
            for number, name, instead in names(text, shown) if file.endswith(".swift") else ():
                faults += 1
                print(f"{shown}:{number}: the name {name}; write: {instead}")
sys.exit(bool(faults))
