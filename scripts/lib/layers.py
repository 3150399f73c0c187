#!/usr/bin/env python3
"""The C modules of the sources are in layers: scripts/test refuses files that call each other in a circle, and calls and
headers from below.

    layers.py FOLDER    checks the modules in a folder: a line for each finding, and status 1 if there is one

A module is a folder with `include`. A file uses another one when it names a function that the other defines, also by an
inline function of a header. A line of the module's public header names its folders as layers:

    Layers, ground first: Host; Library; Objects, Debugger.

A file uses files of its own folder and of those below: Objects and Debugger stand beside each other, and use neither.
Files outside of these folders are above all of them. What is below calls what is above by a pointer.
"""

import pathlib
import re
import sys

COMMENT_OR_TEXT = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
FUNCTION = re.compile(
    r"^(?P<before>[A-Za-z_][\w \t*]*[\s*])(?P<name>\w+)\([^;{}]*\)\s*(?:__attribute__\(\([^;{}]*\)\)\s*)?\{", re.M)
LAYERS = re.compile(r"Layers, ground first: ([^.]*)\.")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def without_texts(source):
    """The source without comments, contents of strings, and names of structures, of the same length and lines."""
    code = re.sub(COMMENT_OR_TEXT, lambda match: re.sub(r"[^\n]", " ", match.group()), source, flags=re.S)
    return re.sub(r"\b(?:struct|union|enum)\s+\w+", lambda match: " " * len(match.group()), code)


def body(code, start):
    """The text from an opening brace's inside to its closing one."""
    depth = 1
    for end in range(start, len(code)):
        depth += {"{": 1, "}": -1}.get(code[end], 0)
        if depth == 0:
            return code[start:end]
    return code[start:]


class Module:
    def __init__(self, folder):
        self.folder = folder
        self.sources = {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*.[ch]"))}
        self.code = {name: without_texts(source) for name, source in self.sources.items()}
        self.definitions, self.statics, self.inlines = {}, {}, {}
        for name, code in self.code.items():
            for function in FUNCTION.finditer(code):
                if name.endswith(".h"):
                    self.inlines[function["name"]] = body(code, function.end())
                elif "static" in function["before"].split():
                    self.statics.setdefault(name, set()).add(function["name"])
                else:
                    self.definitions.setdefault(function["name"], set()).add(name)
        self.ranks = {}
        for name, source in self.sources.items():
            layers = LAYERS.search(source)
            if name.startswith("include/") and layers:
                for rank, folders in enumerate(re.sub(r"\s*\n\s*\*?\s*", " ", layers[1]).split(";")):
                    self.ranks.update({layer.strip(): rank for layer in folders.split(",")})

    def uses(self, text, seen=frozenset()):
        """The files that define functions which a text names, each with such a name."""
        found = {}
        for word in sorted(set(re.findall(r"\w+", text)) - seen):
            if word in self.definitions:
                for file in self.definitions[word]:
                    found.setdefault(file, word)
            elif word in self.inlines:
                for file, inner in self.uses(self.inlines[word], seen | {word}).items():
                    found.setdefault(file, inner)
        return found

    def graph(self):
        graph = {}
        for name in self.code:
            if name.endswith(".c"):
                # What a file defines itself is its own, also where another system's file defines it, too.
                own = {word for word, files in self.definitions.items() if name in files} | self.statics.get(name, set())
                graph[name] = self.uses(self.code[name], frozenset(own))
                graph[name].pop(name, None)
        return graph

    def layer(self, name):
        """The folder of a file, if it is a layer."""
        folder = name.split("/")[0]
        return folder if folder in self.ranks else None

    def is_below(self, lower, upper):
        """Whether a file may use another one of these layers; None: above all."""
        if upper is None or lower == upper:
            return True
        return lower is not None and self.ranks[lower] < self.ranks[upper]

    def findings(self):
        graph = self.graph()
        for circle in circles(graph):
            yield "a circle: " + ", ".join(
                f"{name} calls {graph[name][following]}" for name, following in zip(circle, circle[1:] + circle[:1]))
        for name, uses in graph.items():
            for used, function in uses.items():
                if not self.is_below(self.layer(used), self.layer(name)):
                    yield f"{name}: {function} is in {used}, which is not below"
        for name, source in self.sources.items():
            for included in INCLUDE.findall(source):
                used = (self.folder / name).parent.joinpath(included).resolve()
                if used.is_relative_to(self.folder) and used.exists():
                    used = used.relative_to(self.folder).as_posix()
                    if not self.is_below(self.layer(used), self.layer(name)):
                        yield f"{name}: includes {used}, which is not below"
        for layer in self.ranks:
            if not (self.folder / layer).is_dir():
                yield f"the layer {layer} has no folder"


def circles(graph):
    """A shortest circle through each file that is in one, each circle once."""
    seen = set()
    for start in sorted(graph):
        paths, reached = [[start]], {start}
        while paths and start not in seen:
            path = paths.pop(0)
            for following in sorted(graph.get(path[-1], {})):
                if following == start:
                    seen.update(path)
                    yield path
                    break
                if following not in reached and following in graph:
                    reached.add(following)
                    paths.append(path + [following])


def check(folder):
    count = 0
    for include in sorted(pathlib.Path(folder).resolve().glob("*/include")):
        for finding in Module(include.parent).findings():
            count += 1
            print(f"{include.parent.name}: {finding}")
    return count == 0


if __name__ == "__main__":
    sys.exit(0 if check(sys.argv[1]) else 1)
