#!/usr/bin/env python3
"""symbols.py COMMAND BUILD [ARGUMENT…]: what the modules of the package declare to those who import them.

The symbol graphs come from the modules of a finished build (BUILD, as .build-test/debug), which takes seconds.

  undocumented BUILD              lists public declarations without a documentation comment; status 1 when there is one
  write BUILD FOLDER              writes each module's public declarations, sorted, to FOLDER/MODULE.txt
  compare BUILD FOLDER CHANGELOG  says what FOLDER/MODULE.txt has and the modules no longer have; status 1 when there is
                                  something that the CHANGELOG's part Unreleased does not name under "Breaking"
  graphs BUILD FOLDER             leaves the symbol graphs in FOLDER, for docc
  typecheck BUILD FILE            checks a main file that imports the modules; a warning is an error
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# The library products, and what Cubby and Items re-export.
MODULES = [
    "Application", "CSV", "ColumnEngine", "Cubby", "Files", "Gallery", "Images", "ItemArchive", "Items", "KeyedArchive",
    "LineEditor", "Lua", "PredicateFormat", "PropertyList", "REPL", "Scripting", "SharedItems",
]

# What the standard library's protocols document: a member that meets such a requirement needs no comment of its own.
INHERITED = {
    "Swift.Equatable": {"==(_:_:)"},
    "Swift.Comparable": {"<(_:_:)"},
    "Swift.Hashable": {"hash(into:)", "hashValue"},
    "Swift.Identifiable": {"id"},
    "Swift.RawRepresentable": {"rawValue", "init(rawValue:)", "RawValue"},
    "Swift.CaseIterable": {"allCases", "AllCases"},
    "Swift.CustomStringConvertible": {"description"},
    "Swift.CustomDebugStringConvertible": {"debugDescription"},
    "Swift.Decodable": {"init(from:)"},
    "Swift.Encodable": {"encode(to:)"},
    "Swift.Sequence": {"makeIterator()", "Iterator", "Element", "underestimatedCount"},
    "Swift.IteratorProtocol": {"next()", "Element"},
    "Swift.Collection": {"startIndex", "endIndex", "subscript(_:)", "index(after:)", "Index", "count", "isEmpty"},
    "Swift.BidirectionalCollection": {"index(before:)"},
    "Swift.ExpressibleByArrayLiteral": {"init(arrayLiteral:)"},
    "Swift.ExpressibleByBooleanLiteral": {"init(booleanLiteral:)"},
    "Swift.ExpressibleByDictionaryLiteral": {"init(dictionaryLiteral:)"},
    "Swift.ExpressibleByFloatLiteral": {"init(floatLiteral:)"},
    "Swift.ExpressibleByIntegerLiteral": {"init(integerLiteral:)"},
    "Swift.ExpressibleByNilLiteral": {"init(nilLiteral:)"},
    "Swift.ExpressibleByStringLiteral": {"init(stringLiteral:)"},
    "_Concurrency.AsyncSequence": {"makeAsyncIterator()", "AsyncIterator", "Element", "Failure"},
    "_Concurrency.AsyncIteratorProtocol": {"next()", "next(isolation:)", "Element", "Failure"},
}


def imports(build):
    """The flags with which a compiler finds the modules of a build."""
    build = os.path.abspath(build)
    maps = [os.path.join(build, name, "module.modulemap") for name in os.listdir(build) if name.endswith(".build")]
    flags = [flag for path in maps if os.path.exists(path) for flag in ("-Xcc", "-fmodule-map-file=" + path)]
    return ["-I", os.path.join(build, "Modules"), *flags]


def extract(build, folder):
    """Writes the symbol graphs of MODULES to a folder."""
    flags = imports(build)
    target = json.loads(subprocess.check_output(["swift", "-print-target-info"]))["target"]["triple"]
    for module in MODULES:
        command = ["swift-symbolgraph-extract", "-module-name", module, *flags, "-target", target]
        command += ["-minimum-access-level", "public", "-skip-synthesized-members"]
        result = subprocess.run([*command, "-output-dir", folder], capture_output=True, text=True)
        if not os.path.exists(os.path.join(folder, module + ".symbols.json")):
            sys.exit(f"{module} has no symbol graph:\n{result.stderr}")


def graphs(build):
    """The graphs of all modules, each with its module's name; that of an extension of another module is its own's."""
    with tempfile.TemporaryDirectory() as folder:
        extract(build, folder)
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                yield re.split(r"[@.]", name)[0], json.load(file)


def is_declared(symbol):
    return symbol["accessLevel"] in ("public", "open") and symbol["kind"]["identifier"] != "swift.extension"


def undocumented(build):
    symbols, requirements, adopted, known = [], {}, {}, {}
    documented = set()
    for module, graph in graphs(build):
        for symbol in filter(is_declared, graph["symbols"]):
            symbols.append((module, symbol))
            if symbol.get("docComment"):
                documented.add(symbol["identifier"]["precise"])
        for relation in graph["relationships"]:
            if relation["kind"] in ("requirementOf", "optionalRequirementOf"):
                requirements.setdefault(relation["target"], set()).add(relation["source"])
            if relation["kind"] in ("conformsTo", "inheritsFrom"):
                adopted.setdefault(relation["source"], set()).add(relation["target"])
                known[relation["target"]] = INHERITED.get(relation.get("targetFallback"), set())
    names = {symbol["identifier"]["precise"]: symbol["pathComponents"][-1] for _, symbol in symbols}
    owners = {tuple(symbol["pathComponents"]): symbol["identifier"]["precise"] for _, symbol in symbols}

    def inherited(owner, seen):
        """The names of the documented requirements of all protocols that a type adopts."""
        seen.add(owner)
        found = known.get(owner, set()) | {names[need] for need in requirements.get(owner, ()) if need in documented}
        return found.union(*(inherited(other, seen) for other in adopted.get(owner, ()) if other not in seen))

    for module, symbol in symbols:
        path, identifier = symbol["pathComponents"], symbol["identifier"]["precise"]
        if identifier in documented or "CodingKeys" in path:
            continue
        owner = owners.get(tuple(path[:-1]))
        if owner and identifier not in requirements.get(owner, ()) and path[-1] in inherited(owner, set()):
            continue
        yield f"{module}.{'.'.join(path)}"


# Protocols that almost every type has without saying so.
IMPLICIT = {"SendableMetatype", "Copyable", "Escapable", "BitwiseCopyable"}
TYPES = {"swift.struct", "swift.class", "swift.enum", "swift.actor"}


def declarations(build, all_forms=False):
    """Each module's public declarations as they are written, with the type that they belong to.

    A type's line has its protocols. What meets a documented requirement of theirs, without a comment of its own, is
    promised with them and has no line: `hash(into:)`, an observer's default method. With all forms it has one, and a
    type one without protocols, too: lists of before 2.0 have those.
    """
    lines, everything = {}, list(graphs(build))
    names = {symbol["identifier"]["precise"]: ".".join(symbol["pathComponents"])
             for _, graph in everything for symbol in graph["symbols"]}
    adopted, implied = {}, set()
    for relation in (relation for _, graph in everything for relation in graph["relationships"]):
        if relation["kind"] == "conformsTo":
            protocol = names.get(relation["target"]) or relation.get("targetFallback", "").split(".", 1)[-1]
            if protocol and protocol not in IMPLICIT:
                adopted.setdefault(relation["source"], set()).add(protocol)
        if relation.get("sourceOrigin"):
            implied.add(relation["source"])
    for module, graph in everything:
        for symbol in filter(is_declared, graph["symbols"]):
            identifier = symbol["identifier"]["precise"]
            if identifier in implied and not all_forms:
                continue
            text = "".join(fragment["spelling"] for fragment in symbol.get("declarationFragments", ()))
            owner = ".".join(symbol["pathComponents"][:-1])
            text = re.sub(r"\s+", " ", f"{owner}: {text}" if owner else text)
            found = lines.setdefault(module, set())
            protocols = symbol["kind"]["identifier"] in TYPES and adopted.get(identifier)
            if not protocols or all_forms:
                found.add(text)
            if protocols:
                found.add(f"{text} : {', '.join(sorted(protocols))}")
    return lines


def write(build, folder):
    os.makedirs(folder, exist_ok=True)
    for module, lines in declarations(build).items():
        with open(os.path.join(folder, module + ".txt"), "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in sorted(lines))


def breaking(changelog):
    """The text below a heading "Breaking" in the part Unreleased."""
    with open(changelog, encoding="utf-8") as file:
        unreleased = re.search(r"^## Unreleased$(.*?)(?=^## |\Z)", file.read(), re.M | re.S)
    part = unreleased and re.search(r"^### Breaking$(.*?)(?=^### |\Z)", unreleased[1], re.M | re.S)
    return part[1] if part else ""


def compare(build, folder, changelog):
    """What is gone and not named in the change log, in code's quotes: a member, or its type for all of them."""
    present, named = declarations(build, all_forms=True), set(re.findall(r"`([^`]+)`", breaking(changelog)))
    for name in sorted(os.listdir(folder)):
        module = name.removesuffix(".txt")
        if module not in MODULES:
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for line in file.read().splitlines():
                if line in present.get(module, ()):
                    continue
                if not any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", line) for word in named):
                    yield f"{module}: {line}"


def main(command, build, *arguments):
    if command == "undocumented":
        found = list(undocumented(build))
    elif command == "compare":
        found = list(compare(build, *arguments))
    elif command == "write":
        return write(build, *arguments)
    elif command == "graphs":
        return extract(build, *arguments)
    elif command == "typecheck":
        check = ["swiftc", "-typecheck", "-swift-version", "6", "-warnings-as-errors", *imports(build), *arguments]
        return subprocess.run(check, check=False).returncode
    else:
        sys.exit(__doc__)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if len(sys.argv) < 3:
    sys.exit(__doc__)
sys.exit(main(*sys.argv[1:]))
