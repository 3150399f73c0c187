"""chapter_lines.py objc|swift [PAGE [SOURCE]]: compiles the lines of Objective-C or of Swift beside Cubby's.

They are the code in the columns of that name in the page's tables (docs/chapter.md), and the lines that the steps at the
prompt show (Sources/REPL/Commands/Lesson.swift). Foundation is GNUstep's and Swift's own; what else the lines name, UIKit's and
the book's, is declared in Tests/Judges/chapter. Messages name the page's lines. Status 0: all compile.
"""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LANGUAGES = {"objc": ("Objective-C", "objectiveC"), "swift": ("Swift", "swift")}


def of_page(path, title):
    """The code in the columns of a title, with the number of its line: all of it, if a cell is code and words."""
    column = None
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if not line.startswith("|"):
            column = None
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if column is None:
            found = [place for place, cell in enumerate(cells) if cell.split(",")[0] == title]
            column = found[0] if found else -1
        elif column >= 0:
            yield from ((number, code) for code in re.findall(r"`([^`]+)`", cells[column]))


def of_source(path, name):
    """The lines of the steps at the prompt."""
    text = open(path, encoding="utf-8").read()
    for found in re.finditer(name + r': "((?:[^"\\]|\\.)*)"', text):
        yield text.count("\n", 0, found.start()) + 1, re.sub(r"\\(.)", r"\1", found[1])


def objective_c(code):
    """A declaration, or statements in a method."""
    if re.match(r"[-+] \(", code):
        return ("method" if code.endswith("}") else "declaration"), code
    if re.fullmatch(r"(\w+:)+|[a-z]\w*", code):
        return "statement", f"(void)@selector({code});"
    if code == "BOOL" or code.endswith("*"):
        return "statement", f"(void)sizeof({code});"
    if re.fullmatch(r"(NS|UI|BNR)\w+", code) and not code.endswith("Notification"):
        return "statement", f"(void)[{code} class];"
    return "statement", f"{code};" if re.match(r"[\w.]+ = ", code) else f"(void)({code});"


def swift(code):
    """The same; what a line leaves out, …, has something in its place."""
    code = re.sub(r"try …", "try work()", code)
    code = re.sub(r"(?<=\) )\{ … \}", "{ _ in }", code).replace("{ … }", "{ }")
    if code == "init":
        return "statement", "_ = ItemStore.init"
    if re.match(r"(required |override )?(func|init)\b", code):
        return "method", code if code.endswith("}") else code + " { fatalError() }"
    if re.fullmatch(r"\w+\((\w+:)+\)", code):
        return "statement", f"_ = delegate.{code}"
    if re.fullmatch(r"[A-Z]\w*", code):
        return "statement", f"_ = {code}.self"
    return "statement", code if re.match(r"(do \{|[\w.]+ = )", code) else f"_ = {code}"


def objective_c_source(lines):
    parts = {"declaration": [], "method": [], "statement": []}
    for path, number, code in lines:
        kind, text = objective_c(code)
        parts[kind].append((f'# {number} "{path}"', text))
    # Each by itself: two lines may declare the same.
    yield '#include "stand-ins.h"'
    for place, (mark, text) in enumerate(parts["declaration"]):
        yield from (f"@protocol Declared{place}", mark, text + ";", "@end")
    for place, (mark, text) in enumerate(parts["method"]):
        yield from (f"@interface Method{place} : Context", "@end", f"@implementation Method{place}", mark, text, "@end")
    yield from ("@interface Lines : Context", "@end", "@implementation Lines")
    for place, (mark, text) in enumerate(parts["statement"]):
        yield from (f"- (void)line{place} {{", mark, text, "}")
    yield "@end"


def swift_source(lines):
    yield "import Foundation"
    for place, (path, number, code) in enumerate(lines):
        kind, text = swift(code)
        yield f"final class Line{place}: Context {{"
        if kind == "statement":
            yield "  func line() throws {"
        yield from (f'#sourceLocation(file: "{path}", line: {number})', text, "#sourceLocation()")
        yield "  } }" if kind == "statement" else "}"


def main():
    language = sys.argv[1]
    title, name = LANGUAGES[language]
    page = sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "docs/chapter.md")
    source = sys.argv[3] if len(sys.argv) > 3 else os.path.join(ROOT, "Sources/REPL/Commands/Lesson.swift")
    lines = [(os.path.relpath(page, ROOT), *line) for line in of_page(page, title)]
    lines += [(os.path.relpath(source, ROOT), *line) for line in of_source(source, name)]
    folder = os.path.join(ROOT, "Tests/Judges/chapter")
    with tempfile.TemporaryDirectory() as work:
        if language == "objc":
            file = os.path.join(work, "lines.m")
            open(file, "w", encoding="utf-8").write("\n".join(objective_c_source(lines)) + "\n")
            flags = subprocess.run(["gnustep-config", "--objc-flags"], check=True, capture_output=True, text=True).stdout.split()
            flags = [flag for flag in flags if not flag.startswith(("-M", "-W"))]
            command = ["gcc", "-std=gnu11", *flags, "-Wall", "-Wundeclared-selector", "-Werror", "-I", folder, "-fsyntax-only", file]
        else:
            file = os.path.join(work, "lines.swift")
            open(file, "w", encoding="utf-8").write("\n".join(swift_source(lines)) + "\n")
            command = ["swiftc", "-typecheck", "-suppress-warnings", "-module-name", "Lines", os.path.join(folder, "StandIns.swift"), file]
        done = subprocess.run(command, capture_output=True, text=True)
    sys.stderr.write(done.stderr)
    if done.returncode:
        return 1
    print(f"{len(lines)} lines of {title} compile")
    return 0


sys.exit(main())
