#!/usr/bin/env python3
"""same_graph.py FILE …: pairs of keyed archives, each read by plistlib, its UIDs resolved; says of each pair whether it
is the same graph of objects. Exit status 1 when one is not."""
import plistlib
import sys

IMMUTABLE = {"NSDate", "NSNull", "NSUUID", "NSURL", "NSValue", "NSIndexSet", "NSIndexPath", "NSLocale", "NSTimeZone",
             "NSRegularExpression", "NSDecimalNumber", "NSDecimalNumberPlaceholder", "NSAffineTransform"}


def load(path):
    data = open(path, "rb").read()
    if not data.startswith(b"bplist"):
        # Expat refuses the control characters that real archives hold, and bytes behind the end.
        data = bytes(b if b >= 32 or b in b"\t\n\r" else 63 for b in data[: data.rindex(b"</plist>") + 8])
    return plistlib.loads(data)


def uid(value):
    if isinstance(value, plistlib.UID):
        return value.data
    if isinstance(value, dict) and list(value) == ["CF$UID"]:
        return value["CF$UID"]
    return None


def shown(value):
    """Strings without the control characters that had to go where the file is XML."""
    return "".join("?" if c < " " and c not in "\t\n\r" else c for c in value) if isinstance(value, str) else value


class Pair:
    def __init__(self, a, b):
        self.objects = (a["$objects"], b["$objects"])
        self.partners = ({}, {})
        self.compared = set()

    def class_name(self, side, entry):
        number = uid(entry.get("$class")) if isinstance(entry, dict) else None
        return None if number is None else self.objects[side][number]["$classname"]

    def run(self, tops):
        pending = [("$top", *tops)]
        while pending:
            path, a, b = pending.pop()
            x, y = uid(a), uid(b)
            if (x is None) != (y is None):
                return f"{path}: one is a reference"
            if x is not None:
                if (x, y) in self.compared:
                    continue
                self.compared.add((x, y))
                a, b = self.objects[0][x], self.objects[1][y]
                names = self.class_name(0, a), self.class_name(1, b)
                if names[0] != names[1]:
                    return f"{path}: {names[0]} became {names[1]}"
                # $null in another slot than 0 is nil.
                if a == "$null" or b == "$null":
                    if a != b:
                        return f"{path}: one is nil"
                    continue
                if names[0] is not None and names[0] not in IMMUTABLE:
                    if self.partners[0].setdefault(x, y) != y or self.partners[1].setdefault(y, x) != x:
                        return f"{path}: shared in one, not in the other"
            if isinstance(a, dict) and isinstance(b, dict):
                if a.keys() != b.keys():
                    return f"{path}: the keys {sorted(a.keys() ^ b.keys())} are in one of them"
                pending += [(f"{path}.{key}", a[key], b[key]) for key in a]
            elif isinstance(a, list) and isinstance(b, list):
                if len(a) != len(b):
                    return f"{path}: {len(a)} and {len(b)} elements"
                pending += [(f"{path}[{i}]", p, q) for i, (p, q) in enumerate(zip(a, b))]
            elif type(a) is not type(b) or (shown(a) != shown(b) and not (a != a and b != b)):
                return f"{path}: {a!r:.60} and {b!r:.60}"
        return None


def main(paths):
    failed = False
    for one, other in zip(paths[::2], paths[1::2]):
        a, b = load(one), load(other)
        difference = Pair(a, b).run((a["$top"], b["$top"]))
        print(f"{one}: {difference or 'same'}")
        failed |= difference is not None
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
