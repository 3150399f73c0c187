import Foundation
import TestSupport
import Testing

/// Archives made to exhaust whoever reads them. Each is read by the program, whose memory is limited to a multiple of
/// what a small archive takes: it gives a value or an error, and is never ended by a signal.
@Suite("Hostile archives", .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct HostileArchiveTests {
    /// Python that writes the files: a table of small attacks, each with what it would cost a careless reader.
    static let maker = """
        import plistlib, struct, sys
        from plistlib import UID
        folder = sys.argv[1]
        def save(name, data): open(f"{folder}/{name}", "wb").write(data)
        def binary(objects, top=0, ref=2, offsets=None, tail=b""):
            body, table = b"bplist00", []
            for o in objects:
                table.append(len(body)); body += o
            body += tail
            table = offsets(table) if offsets else table
            out = body + b"".join(struct.pack(">Q", o) for o in table)
            return out + bytes([0]*6 + [8, ref]) + struct.pack(">QQQ", len(table), top, len(body))
        def refs(marker, *r): return bytes([marker | len(r)]) + b"".join(struct.pack(">H", x) for x in r)
        def long(marker, n, payload): return bytes([marker | 15, 0x12]) + struct.pack(">I", n) + payload
        def archive(objects, top=None):
            return plistlib.dumps({"$version": 100000, "$archiver": "NSKeyedArchiver", "$objects": ["$null"] + objects,
              "$top": top or {"root": UID(1)}}, fmt=plistlib.FMT_BINARY)
        def cls(name): return {"$classname": name, "$classes": [name, "NSObject"]}
        # 60 arrays that hold the next one twice: 2^60 elements as a tree; the same as objects; the same 20 deep, which
        # passes limits that only count what is enormous.
        save("dag", binary([refs(0xA0, i + 1, i + 1) for i in range(60)] + [b"\\x09"]))
        save("dag-24", binary([refs(0xA0, i + 1, i + 1) for i in range(24)] + [b"\\x09"]))
        # The same as inline arrays of one instance, which have no number of their own.
        def inline(n):
            a = [1]
            for i in range(n): a = [a, a]
            return a
        save("laugh", archive([{"$class": UID(2), "field": inline(40)}, cls("Holder")]))
        save("dag-objects", archive([{"$class": UID(62), "NS.objects": [UID(i + 2)] * 2} for i in range(60)]
          + ["leaf", cls("NSArray")]))
        # 30,000 arrays, each in the next.
        save("deep", binary([bytes([0xA1]) + struct.pack(">I", i + 1) for i in range(30000)] + [b"\\x09"], ref=4))
        save("deep-xml", b"<plist>" + b"<array>" * 30000 + b"</array>" * 30000 + b"</plist>")
        save("deep-objects", archive([{"$class": UID(8001), "next": UID(i + 2)} for i in range(7999)] + ["end", cls("Node")]))
        # Data of 50,000 bytes that 20,000 entries of the offset table point into.
        save("overlap", binary([long(0xA0, 20000, b"".join(struct.pack(">H", i % 20000 + 1) for i in range(20000))),
          long(0x40, 50000, bytes(50000))], offsets=lambda t: [t[0]] + [t[1]] * 20000))
        # One string of 50,000 characters in 30,000 places: of a list, of objects, of items.
        text = "x" * 50000
        save("shared-string", plistlib.dumps([text] * 30000, fmt=plistlib.FMT_BINARY))
        save("shared-object", archive([{"$class": UID(3), "NS.objects": [UID(2)] * 30000}, text, cls("NSArray")]))
        n = 5000
        save("shared-inline", archive([{"$class": UID(2), "NS.objects": [UID(i + 4) for i in range(n)]}, cls("NSArray"),
          cls("NSMutableString")] + [{"$class": UID(3), "NS.string": text}] * n))
        save("shared-name", archive([{"$class": UID(2), "NS.objects": [UID(i + 5) for i in range(n)]}, cls("NSArray"),
          cls("Item"), text] + [{"$class": UID(3), "name": UID(4), "valueInDollars": i} for i in range(n)]))
        # 3,000 classes that share one list of 300 long names.
        names = [f"{i:0300d}" for i in range(300)]
        save("shared-names", archive([{"$class": UID(2), "NS.objects": [UID(2 * i + 3) for i in range(3000)]}, cls("NSArray")]
          + [e for i in range(3000) for e in ({"$class": UID(2 * i + 4)}, {"$classname": f"C{i}", "$classes": names})]))
        # Counts and offsets beyond everything; a trailer that counts more than there can be.
        save("count", binary([bytes([0xAF, 0x13]) + struct.pack(">q", 2**62)]))
        save("negative-count", binary([bytes([0x5F, 0x13]) + struct.pack(">q", -1)]))
        save("trailer", b"bplist00" + bytes(100) + bytes([0]*6 + [8, 8]) + struct.pack(">QQQ", 2**61, 0, 8))
        save("offsets", binary([b"\\x09"], offsets=lambda t: [2**63]))
        save("self", binary([refs(0xA0, 0)]))
        save("nan-date", binary([b"\\x33" + struct.pack(">d", float("nan"))]))
        save("infinite-time", archive([{"$class": UID(2), "NS.time": float("inf")}, cls("NSDate")]))
        save("utf16", binary([bytes([0x62, 0xD8, 0x00, 0x00, 0x41])]))
        save("utf8-xml", b"<plist><string>\\xff\\xfe\\xff</string></plist>")
        save("entities", b'<!DOCTYPE plist [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><plist><string>&b;</string></plist>')
        save("class-of-itself", archive([{"$class": UID(1)}]))
        save("uid", archive([{"$class": UID(2), "NS.objects": [UID(4000000000)]}, cls("NSArray")]))
        save("json", b"[" * 100000)
        """

    /// Kilobytes of address space: most of it is the program's code and the pools of its allocator.
    static let limit = 1_000_000

    @Test("small inputs take little memory, whatever they claim, in every command")
    func memory() throws {
        let program = try Program()
        let folder = program.scratch.file("hostile")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let made = try run("python3", ["-c", Self.maker, folder])
        try #require(made.status == .exited(0), "\(made.stderr)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(files.count >= 25)
        // Drawing what stands a hundred thousand times takes as many lines; what matters is that it ends, and how.
        let script = """
            ulimit -v \(Self.limit)
            for file in "$1"/*; do
              for words in "check" "inspect --depth 3" "inspect" "inspect --json --path root" "inspect --json-lines" \
                "inspect --bytes" "timeline --format jsonl --report" "inspect --find q" "convert --format xml - -"; do
                # A reader that has had enough would end what has no end.
                sink=(head -c 100000); [[ $words == inspect ]] && sink=(cat)
                timeout 60 "$CUBBY" $words \
                  $([[ $words == convert* ]] || echo "$file") <"$file" 2>&1 | "${sink[@]}" >/dev/null
                echo "${file##*/} $words: ${PIPESTATUS[0]}"
              done
            done
            """
        let output = try run(
            "/bin/bash", ["-c", script, "bash", folder], environment: program.environment, timeout: 300)
        let lines = output.stdout.split(separator: "\n")
        #expect(lines.count == files.count * 9)
        for line in lines
        where !["0", "1", "65", "74"].contains(line.split(separator: " ").last.map(String.init) ?? "") {
            Issue.record("\(line)")
        }
    }

    @Test("an archive of items that share one long name opens as a store")
    func sharedName() throws {
        let program = try Program()
        let folder = "\(program.container)/Documents"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        _ = try run("python3", ["-c", Self.maker, folder])
        try FileManager.default.moveItem(atPath: "\(folder)/shared-name", toPath: "\(folder)/items.archive")
        let script = "ulimit -v \(Self.limit); exec \"$CUBBY\" --read-only -e 'print(#items, #items[5000].name)'"
        let output = try run("/bin/bash", ["-c", script], environment: program.environment)
        #expect(output.stdout == "5000\t50000\n", "\(output.stderr)")
    }

    @Test(
        "the hostile files of others, each checked",
        .enabled(if: Project.shared != nil, "\(Project.sharedIsAbsent)"))
    func others() throws {
        let program = try Program()
        let folder = try #require(Project.sharedData("hostile"))
        let script = """
            ulimit -v \(Self.limit)
            for file in "$1"/*; do timeout 20 "$CUBBY" check "$file" >/dev/null 2>&1; echo "${file##*/}: $?"; done
            """
        let output = try run(
            "/bin/bash", ["-c", script, "bash", folder], environment: program.environment, timeout: 300)
        let lines = output.stdout.split(separator: "\n")
        #expect(lines.count > 100)
        for line in lines where !line.hasSuffix(": 0") && !line.hasSuffix(": 65") { Issue.record("\(line)") }
    }
}
