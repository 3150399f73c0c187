#!/usr/bin/env python3
"""Every function of the reference and of Lua, every operator of predicates and every reader with hostile arguments, under a
time limit and a memory limit.

functions.py BINARY [--short] [NAME…]

functions.txt says how each is called. For each argument of a call, and each hostile value of its kind, the program runs once
with both limits, and what is stopped late, or takes too much memory, is a failure; a call that runs into the time limit is
tried once more without it, and has to hear SIGTERM. NAME… restricts the trial to functions whose names begin so. The short
form tries one hostile value an argument, of some functions, and is for builds of any kind beside other work: there a call has
to end, but may be late.
"""
import io, json, os, plistlib, re, signal, sqlite3, struct, subprocess, sys, tempfile, shutil, threading, time, zipfile, zlib
from concurrent.futures import ThreadPoolExecutor

TIME_LIMIT = 1.0    # seconds
MEMORY_LIMIT = 64   # MB
LATE = 0.5          # seconds beyond the time limit
GROWTH = 4.0        # times the memory limit
HEARD = 1.0         # seconds after SIGTERM
HANDLER = 2.0       # seconds that a handler of the life cycle has, SIGTERM or not
GUARD = 30          # seconds beyond which a session has hung

HERE = os.path.dirname(os.path.abspath(__file__))
MARKS = "e" + "\u0301\u0316" * 80000

# By the word that stands for an argument: a harmless value, then hostile ones, the first of which the short form tries.
TEXTS = ['marks', '("x"):rep(2e7)', '("a\\0"):rep(1e7)', '("\\xC3"):rep(1e6)', '("\\u{1F468}\\u{200D}"):rep(1e5)',
         '("\\u{1112}\\u{1161}\\u{11AB}"):rep(1e6)', '("("):rep(1e6)', '("%"):rep(1e6)', '("9"):rep(1e6)',
         '("a,"):rep(5e6)', '("\\n"):rep(1e7)']
TABLES = ['keys', 'numbers(2e6)', 'named(3e5)', 'nested(5000)', 'cycle', 'doubled', 'endless', '{ marks, marks .. "b" }',
          '{ [marks] = marks, [marks .. "b"] = { [marks] = 1 } }']
FILES = ['folder .. "/sparse"', 'folder .. "/line"', 'folder .. "/marks.json"', 'folder .. "/records.json"',
         'folder .. "/scans.jpg"', 'folder .. "/texts.png"']
WORDS = {
    "TEXT": ['"a"'] + TEXTS,
    "NAME": ['"name"'] + TEXTS[:6],
    "DIGITS": ['"12"'] + ['("9"):rep(1e7)', 'marks', '("0"):rep(1e7) .. "x"', '"1e" .. ("9"):rep(1e6)'],
    "TABLE": ['{ 1, 2 }'] + TABLES,
    "TEXTS": ['{ "a", "b" }'] + ['texts(50)', '{ marks, marks .. "b" }', 'named(3e5)'],
    "VALUE": ['"a"'] + TEXTS[:3] + TABLES,
    "BYTES": ['archiver.archivedData("a")'] + TEXTS[:3] + ['plists()', 'read("/marks.plist")', 'read("/scans.jpg")',
                                                          'read("/texts.png")', 'read("/records.plist")'],
    "INTEGER": ['1', 'math.maxinteger', 'math.mininteger', '1 << 30', '-1', '0'],
    "NUMBER": ['0.5', '1e308', '-1e308', '1/0', '0/0', '-1'],
    "FUNCTION": ['function() return true end', 'function() while true do end end', 'function() error(marks) end',
                 'function() return marks end', 'function() pcall(function() while true do end end) while true do end end'],
    "PATH": ['folder .. "/rows.csv"'] + FILES + ['marks', '("a/"):rep(1e6)'],
    "FILE": ['"/rows.csv"', '"/line"', '"/sparse"'],
    "READING": ['"l"', '"a"', '"n"', '"L"', '1 << 40'],
    "KEY": ['"name"', 'marks', '("x"):rep(2e7)', '"length(" .. marks .. ")"', '("("):rep(1e5)', '"valueInDollars" .. (" + 1"):rep(3e5)'],
    "FORMAT": ['"name CONTAINS \'a\'"', '"name ==[cd] \'" .. marks .. "\'"', 'marks .. " == 1"',
               '"name == 1" .. (" OR name == 1"):rep(3e5)', '("("):rep(1e6)', '"name MATCHES \'" .. ("(a|b)*"):rep(3e4) .. "\'"',
               '"name IN {" .. ("1,"):rep(1e6) .. "1}"', '("NOT "):rep(5e5) .. "TRUEPREDICATE"'],
    "WILDCARDS": ['"a*"', '("*a?"):rep(2e4) .. "b"', '("?"):rep(1e5) .. "*b"', '"*" .. marks'],
    "EXPRESSION": ['"a.*"', '("(a*)*"):rep(1e3) .. "b"', '("a?"):rep(1e4) .. ("a"):rep(1e4)', 'marks', '"(" .. ("a|"):rep(1e5) .. "b)*c"'],
    "LUAPATTERN": ['"a"', '(".-"):rep(8) .. "b"', '("a?"):rep(100) .. "b"', 'marks', '"%f[b].-b.-c"'],
    "PATTERN": ['"yyyy"', '("MMMM "):rep(5e6)', '("%Y "):rep(5e6)', 'marks', '("y"):rep(1e7)', '"\'" .. ("x"):rep(1e7)'],
    "SOURCE": ['"return 1"', '("x = 1 "):rep(5e6)', '("goto a ::b%d:: "):rep(1e5)', '("("):rep(1e6)', 'marks'],
    "SQL": ['"select 1"', '"select count(*) from (with recursive c(x) as (select 1 union all select x + 1 from c) select x from c)"',
            '"select \'" .. marks .. "\'"', '"select " .. ("1+"):rep(3e5) .. "1"', '("("):rep(1e6)'],
    "JSON": ['"[1]"', "'{\"' .. marks .. '\":1,\"' .. marks .. 'b\":2}'", 'read("/records.json")', '("["):rep(1e6)',
             '"[" .. ("1,"):rep(5e6) .. "1]"', "'\"' .. (\"x\"):rep(2e7) .. '\"'"],
    "CSVFILE": ['"rows.csv"', '"titles.csv"', '"wide.csv"', '"line"', '"sparse"'],
    "JSONFILE": ['"few.json"', '"marks.json"', '"fields.json"', '"records.json"'],
    "JSONLFILE": ['"few.jsonl"', '"marks.jsonl"', '"line"', '"sparse"'],
    "PLISTFILE": ['"few.plist"', '"marks.plist"', '"records.plist"', '"marks.xml.plist"'],
    "XLSXFILE": ['"few.xlsx"', '"marks.xlsx"', '"texts.xlsx"', '"far.xlsx"', '"zeros.xlsx"', '"few.ods"'],
    "ODSFILE": ['"few.ods"', '"marks.ods"', '"repeated.ods"'],
    "PICTURE": ['"small.png"', '"large.png"', '"scans.jpg"', '"texts.png"', '"sparse"'],
}
WORD = re.compile(r"\b(" + "|".join(WORDS) + r")\b")

# What calls and values use, by the word that they use it by: a call's script has only what it names, since its time counts.
USED = {
    "marks": r'local marks = "e" .. ("\u{301}\u{316}"):rep(80000)',
    "keys": 'local keys = { [marks] = 1, [marks .. "b"] = 2, [1] = marks }',
    "numbers": "local function numbers(n) local t = {} for i = 1, n do t[i] = i end return t end",
    "named": 'local function named(n) local t = {} for i = 1, n do t["k" .. i] = i end return t end',
    "texts": r'local function texts(n) local t = {} for i = 1, n do t[i] = ("a\0"):rep(2e5) .. i end return t end',
    "nested": "local function nested(n) local t = {} for i = 1, n do t = { t } end return t end",
    "cycle": "local cycle = {} cycle[1] = cycle cycle.x = cycle",
    "doubled": "local doubled = {} for i = 1, 40 do doubled = { doubled, doubled } end",
    "endless": "local endless = setmetatable({}, { __index = function() while true do end end, __len = function() return 1 << 40 end, "
               "__pairs = function() while true do end end })",
    "read": "local function read(name) return assert(fs.read(folder .. name)) end",
    "open": "local function open(name) return assert(io.open(folder .. name)) end",
    "plists": "local function plists() return plist.encode(named(1e5)) end",
    "bytes": 'local bytes = data(("x"):rep(1e7))',
    "graph": 'local graph = archiver.open(archiver.archivedData({ a = { 1, 2, "three" } }))',
    "writer": "local writer = archiver.writer()",
    "reader": 'local reader = archiver.reader(archiver.archivedData({ name = "a" }))',
    "picture": 'local picture = assert(image.open(folder .. "/small.png"))',
    "item": 'local item = items:createItem{ name = "xa", valueInDollars = 1 }',
    "one": """local function one(format, variables)
    items:createItem{ name = "one", text = ("ab"):rep(5e5) .. marks, numbers = numbers(3000), tags = { marks, marks .. "b", "x" } }
    items:query(format, variables):count()
end""",
    "query": 'for i = 1, 1000 do items:createItem{ name = "Lamp " .. i, valueInDollars = i } end',
}
NEEDS = {"keys": ["marks"], "plists": ["named"], "one": ["marks", "numbers"]}


def script(call):
    """A call after the definitions that it needs."""
    wanted = [name for name in USED if re.search(rf"\b{name}\b", call)]
    if any(word in wanted for word in ("one",)) and "query" in wanted:
        wanted.remove("query")
    wanted += [need for name in wanted for need in NEEDS.get(name, [])]
    lines = [text for name, text in USED.items() if name in wanted]
    return "local folder = ...\n" + "\n".join(lines) + "\nio.stderr:write('begin\\n') io.stderr:flush()\n" + call + "\n"


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(side, texts=()):
    packer = zlib.compressobj(1)
    data = b"".join(packer.compress(bytes(side + 1)) for _ in range(side)) + packer.flush()
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
            + b"".join(chunk(kind, body) for kind, body in texts) + chunk(b"IDAT", data) + chunk(b"IEND", b""))


def progressive_jpeg(side, scans):
    """A grey progressive JPEG of empty scans: each is a few bytes for all blocks, by runs that end the band."""
    quantization = b"\xff\xdb\x00\x43\x00" + bytes([1] * 64)
    frame = b"\xff\xc2\x00\x0b\x08" + struct.pack(">HH", side, side) + b"\x01\x01\x11\x00"
    # One code of one bit each: a difference of 0 for the first coefficients, a run of 32,767 ends of bands for the others.
    first = b"\xff\xc4\x00\x14\x00" + bytes([1] + [0] * 15) + b"\x00"
    others = b"\xff\xc4\x00\x14\x10" + bytes([1] + [0] * 15) + b"\xe0"
    blocks = ((side + 7) // 8) ** 2
    start = b"\xff\xda\x00\x08\x01\x01\x00\x00\x00\x00" + bytes((blocks + 7) // 8)
    run = bytes((blocks // 32767 + 1) * 15 // 8 + 8)
    scan = b"\xff\xda\x00\x08\x01\x01\x00\x01\x3f\x00" + run
    return b"\xff\xd8" + quantization + frame + first + others + start + scan * scans + b"\xff\xd9"


def spreadsheet(members):
    """A ZIP file, packed, of files by their names."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return packed.getvalue()


def xlsx(rows, texts=""):
    """A spreadsheet of Excel with what is within its sheet's data and its table of texts."""
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'

    def relations(**targets):
        parts = "".join(f'<Relationship Id="{kind}" Type="{office}/{kind}" Target="{target}"/>' for kind, target in targets.items())
        return f"<Relationships {package}>{parts}</Relationships>"

    return spreadsheet({
        "_rels/.rels": relations(officeDocument="xl/workbook.xml"),
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{office}"><sheets><sheet name="S" sheetId="1" r:id="worksheet"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(worksheet="worksheets/sheet1.xml", sharedStrings="sharedStrings.xml"),
        "xl/sharedStrings.xml": f"<sst {main}>{texts}</sst>",
        "xl/worksheets/sheet1.xml": f"<worksheet {main}><sheetData>{rows}</sheetData></worksheet>"})


def ods(rows):
    """A spreadsheet of LibreOffice with what is within its table."""
    names = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text"))
    return spreadsheet({
        "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
        "content.xml": f"<office:document-content {names}><office:body><office:spreadsheet><table:table table:name=\"S\">{rows}"
                       "</table:table></office:spreadsheet></office:body></office:document-content>"})


def write_files(folder):
    def write(name, content):
        with open(os.path.join(folder, name), "wb") as file:
            if isinstance(content, int):
                file.truncate(content)
            else:
                file.write(content.encode() if isinstance(content, str) else content)

    def dump(value):
        return json.dumps(value, ensure_ascii=False)

    write("sparse", 2 << 30)
    write("line", b"x" * (200 << 20))
    write("rows.csv", "name,valueInDollars\nLamp,1\n")
    write("rows.tsv", "name\t" + MARKS + "\nLamp\t1\n")
    write("titles.csv", "name," + MARKS + "," + MARKS + "b\nx,1,2\n")
    write("wide.csv", ",".join(f"k{n}" for n in range(300000)) + "\n" + ",".join("1" for _ in range(300000)) + "\n")
    write("few.json", dump([{"name": "a"}]))
    write("few.jsonl", dump({"name": "a"}) + "\n")
    write("marks.json", dump([{MARKS: 1, MARKS + "b": {MARKS: 2}}]))
    write("marks.jsonl", dump({MARKS: 1, MARKS + "b": {MARKS: 2}}) + "\n")
    write("fields.json", dump([{f"k{n}": n for n in range(200000)}]))
    write("records.json", dump([{"name": f"Lamp {n}", f"k{n}": n} for n in range(300000)]))
    write("few.plist", plistlib.dumps([{"name": "a"}]))
    write("marks.plist", plistlib.dumps([{MARKS: 1, MARKS + "b": {MARKS: 2}}], fmt=plistlib.FMT_BINARY))
    write("marks.xml.plist", plistlib.dumps([{MARKS: 1, MARKS + "b": {MARKS: 2}}]))
    write("records.plist", plistlib.dumps([{"name": f"Lamp {n}"} for n in range(200000)]))
    write("marks.archive", plistlib.dumps({
        "$archiver": "NSKeyedArchiver", "$version": 100000, "$top": {"root": plistlib.UID(1)}, "$objects": [
            "$null", {"$class": plistlib.UID(3), "NS.objects": [plistlib.UID(2)]},
            {"$class": plistlib.UID(4), MARKS: 1, MARKS + "b": plistlib.UID(5), "itemKey": plistlib.UID(5),
             "itemName": plistlib.UID(5)},
            {"$classname": "NSArray", "$classes": ["NSArray", "NSObject"]},
            {"$classname": MARKS + "Item", "$classes": [MARKS + "Item", "NSObject"]}, MARKS]}, fmt=plistlib.FMT_BINARY))
    def row(*cells):
        return "<row>" + "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in cells) + "</row>"

    def table_row(*cells, repeated=1):
        return (f'<table:table-row table:number-rows-repeated="{repeated}">' + "".join(
            f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>' for cell in cells)
            + "</table:table-row>")

    write("few.xlsx", xlsx(row("name") + row("a")))
    write("marks.xlsx", xlsx(row("name", MARKS, MARKS + "b") + row("x", 1, 2)))
    write("texts.xlsx", xlsx('<row><c t="s"><v>0</v></c></row>', "<si><t>name</t></si>" * 1000000))
    write("far.xlsx", xlsx(row("name") + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'))
    write("zeros.xlsx", xlsx(" " * (1 << 26)))
    write("few.ods", ods(table_row("name") + table_row("a")))
    write("marks.ods", ods(table_row("name", MARKS, MARKS + "b") + table_row("x", 1, 2)))
    write("repeated.ods", ods(table_row("name") + table_row("a", repeated=1 << 20)))
    write("small.png", png(20))
    write("large.png", png(12000))
    write("texts.png", png(20, [(b"tEXt", b"key%d\0" % n + b"x" * 20) for n in range(300000)]))
    write("scans.jpg", progressive_jpeg(8000, 2000))
    database = sqlite3.connect(os.path.join(folder, "marks.sqlite"))
    database.execute(f'create table items (name text, "{MARKS}" integer)')
    database.execute("insert into items values (?, 1)", (MARKS,))
    database.commit()
    database.close()


def rows():
    """The names and calls of functions.txt, and the reasons for those that are not called."""
    calls = {}
    with open(os.path.join(HERE, "functions.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, call = line.rstrip("\n").split(" | ", 1)
                calls[name] = call
    return calls


def cases(call, is_short):
    """A call with a hostile value in the place of each word in turn, and what was put in."""
    places = list(WORD.finditer(call))
    if not places:
        yield call, ""
    for place in places:
        values = WORDS[place.group(1)][1:]
        for value in values[:1] if is_short else values:
            parts, end = [], 0
            for other in places:
                parts.append(call[end:other.start()])
                parts.append(value if other is place else WORDS[other.group(1)][0])
                end = other.end()
            yield "".join(parts) + call[end:], f"{place.group(1)}: {value[:40]}"


class Trial:
    def __init__(self, binary):
        self.binary = binary
        self.folder = tempfile.mkdtemp(prefix="cubby-functions-")
        self.files = os.path.join(self.folder, "files")
        os.mkdir(self.files)
        write_files(self.files)
        self.numbers = iter(range(1 << 30))
        idle = [self.session("", TIME_LIMIT)[1:3] for _ in range(3)]
        self.start = min(seconds for seconds, _ in idle)
        self.base = min(memory for _, memory in idle)
        self.failures = []
        self.lock = threading.Lock()

    def session(self, call, limit, terminate=None):
        """Runs a call: whether it ended by itself, the seconds until it was told of its end, the peak in MB, and its end."""
        folder = os.path.join(self.folder, str(next(self.numbers)))
        os.mkdir(folder)
        path = os.path.join(folder, "call.lua")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script(call))
        # A background task has its own time behind the script's.
        options = ["--memory-limit", str(MEMORY_LIMIT), "--grace", "0", "--allow-read", self.files]
        if limit:
            options += ["--time-limit", str(limit)]
        process = subprocess.Popen(
            [self.binary, "--container", os.path.join(folder, "c"), *options, "run", path, self.files],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        begin = time.monotonic()
        told = []

        def listen():
            for line in iter(lambda: process.stderr.readline(1 << 16), b""):
                told.append((time.monotonic(), line[:300]))
        reader = threading.Thread(target=listen, daemon=True)
        reader.start()
        peak, signalled = 0, None
        while process.poll() is None:
            peak = max(peak, memory_of(process.pid))
            time.sleep(0.01)
            now = time.monotonic()
            started = next((moment for moment, line in told if line.startswith(b"begin")), None)
            if terminate and not signalled and started and now - started > terminate:
                process.send_signal(signal.SIGTERM)
                signalled = time.monotonic()
            if now - begin > GUARD + (terminate or 0):
                process.kill()
                process.wait()
                shutil.rmtree(folder, ignore_errors=True)
                return None, GUARD, peak, "hangs", None
        end = time.monotonic()
        reader.join(5)
        shutil.rmtree(folder, ignore_errors=True)
        # The error is told as the script ends; the save that follows takes its own time.
        last = next((moment for moment, line in told if line.startswith(b"cubby:")), end)
        said = next((line for _, line in told if line.startswith(b"cubby:")), b"").decode("utf-8", "replace")[:100].strip()
        heard = end - signalled if signalled else None
        return process.returncode, last - begin, peak, said, heard

    def run(self, name, call, what):
        status, seconds, memory, said, _ = self.session(call, TIME_LIMIT)
        late = seconds - self.start - TIME_LIMIT
        growth = (memory - self.base) / MEMORY_LIMIT
        faults = []
        if late > LATE:
            faults.append(f"{late:.1f} s late")
        if growth > GROWTH:
            faults.append(f"{growth:.1f} times the memory limit")
        if status is None or status < 0:
            faults.append(f"ended by {status if status is not None else 'nothing'}")
        heard = ""
        if late > -0.2 and not faults:
            status, _, _, _, delay = self.session(call, None, terminate=0.7)
            if status is None or (delay or 0) > HEARD + (HANDLER if "app:on(" in call else 0):
                faults.append(f"SIGTERM heard after {delay if delay is not None else GUARD:.1f} s")
            heard = f", SIGTERM {delay:.1f} s" if delay is not None else ""
        with self.lock:
            print(f"{max(late, -1):7.2f} {growth:6.2f}  {name} ({what}){heard} {'FAILED: ' + '; '.join(faults) if faults else ''} {said}",
                  flush=True)
            if faults:
                self.failures.append(f"{name} ({what}): {'; '.join(faults)}")


def memory_of(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
    except (OSError, ValueError):
        pass
    return 0


# What the short form tries: one of each class of work.
SHORT = ("fs.read", "json.decode", "plist.encode", "items:createItem", "Query:groupBy", "defaults:set", "date:format",
         "file:read", "table.sort", "error", "log.info", "predicate ==[c]", "predicate ALL", "predicate SUBQUERY",
         "format csv", "format json", "format plist", "format archive", "help", "require")


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--short"]
    is_short = "--short" in sys.argv
    wanted = SHORT if is_short and len(arguments) == 1 else tuple(arguments[1:])
    global LATE, HEARD, GUARD
    if is_short:
        # Under the load of other tests only what hangs is a failure.
        LATE = HEARD = GUARD = 60.0
    trial = Trial(arguments[0])
    print(f"time limit {TIME_LIMIT:.0f} s, memory limit {MEMORY_LIMIT} MB; an idle session takes {trial.start:.2f} s and "
          f"{trial.base:.0f} MB\n   late memory  function")
    with ThreadPoolExecutor(max(1, (os.cpu_count() or 2) // 2)) as pool:
        for name, call in rows().items():
            if wanted and not (name in wanted if is_short else name.startswith(wanted)):
                continue
            if call.startswith("- "):
                print(f"{'':14}  {name}: not called, {call[2:]}")
                continue
            for text, what in cases(call, is_short):
                pool.submit(trial.run, name, text, what)
    shutil.rmtree(trial.folder, ignore_errors=True)
    if trial.failures:
        raise SystemExit("failed:\n" + "\n".join(trial.failures))
    print("all within their limits")


main()
