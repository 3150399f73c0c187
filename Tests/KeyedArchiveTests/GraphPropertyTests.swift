import Foundation
import KeyedArchive
import PropertyList
import TestSupport
import Testing

/// Generated graphs, with sharing, cycles, every type and every width: what is read is what was written, to us, to Python
/// and to Foundation.
@Suite("Round trips of generated graphs")
struct GraphPropertyTests {
    static func bytes(_ seed: UInt64, isPlain: Bool = false) throws -> [UInt8] {
        var generator = GraphGenerator(seed: seed, isPlain: isPlain)
        // Foundation takes time by a power of the nesting.
        let graph = generator.graph(2 + Int(seed % (isPlain ? 8 : 40)))
        defer { graph.dismantle() }
        return try graph.encoded(as: .binary)
    }

    @Test("ours, through both forms and JSON", arguments: 0..<60)
    func ours(_ seed: Int) throws {
        let bytes = try Self.bytes(UInt64(seed))
        let tree = try ArchiveTree(PropertyListStorage(bytes))
        #expect(!ArchiveCheck(bytes).hasErrors)
        let binary = try BinaryPropertyListReader(bytes)
        let throughJSON = try binary.json().withUnsafeBytes { try BinaryPropertyListReader(json: $0).binary() }
        for (name, again) in [
            ("binary", try ArchiveGraph.saved(bytes, as: .binary)),
            ("XML", try ArchiveGraph.saved(bytes, as: .xml)),
            ("copied", try binary.binary()), ("converted", try binary.xml()), ("JSON", throughJSON),
        ] {
            let other = try ArchiveTree(PropertyListStorage(again))
            #expect(ForeignArchiveTests.differences(tree, other) == [], "seed \(seed), \(name)")
        }
        // Every width of the property list, too, stays as it was.
        #expect(try PropertyListValue(decoding: throughJSON) == PropertyListValue(decoding: bytes))
    }

    @Test("plistlib's: the same graph, and the same again when Python writes it")
    func python() throws {
        let folder = try TemporaryDirectory()
        var pairs: [String] = []
        let rewrite = """
            import plistlib, sys
            for path in sys.argv[1:]:
                plistlib.dump(plistlib.load(open(path, "rb")), open(path + ".py", "wb"), fmt=plistlib.FMT_BINARY, sort_keys=False)
            """
        let paths = try (0..<60).map { try folder.write(Self.bytes(UInt64($0)), to: "\($0)") }
        #expect(try run("python3", ["-c", rewrite] + paths).status == .exited(0))
        for (seed, path) in paths.enumerated() {
            let theirs = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + ".py")))
            let ours = try Self.bytes(UInt64(seed))
            // Python makes one object of 0.0 and -0.0.
            let differences = ForeignArchiveTests.differences(
                try ArchiveTree(PropertyListStorage(ours)), try ArchiveTree(PropertyListStorage(theirs)),
                signsOfZero: false)
            #expect(differences == [], "seed \(seed)")
            pairs += [path, try folder.write(ArchiveGraph.saved(theirs, as: .xml), to: "\(seed).xml")]
        }
        let judge = try run("python3", ["\(Project.root)/Tests/Judges/same_graph.py"] + pairs)
        #expect(judge.status == .exited(0))
        for line in judge.stdout.split(separator: "\n") where !line.hasSuffix(": same") { Issue.record("\(line)") }
    }

    @Test("Foundation's: what it reads of ours, and what we read of its own, are the same values", arguments: 0..<24)
    func foundation(_ seed: Int) throws {
        let ours = try Self.bytes(UInt64(seed), isPlain: true)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: Data(ours))
        unarchiver.requiresSecureCoding = false
        let root = try #require(unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey))
        let known = try #require(try KeyedUnarchiver(ours).decodeRootObject())
        #expect(Self.text(root) == Self.text(known), "seed \(seed)")
        let theirs = try NSKeyedArchiver.archivedData(withRootObject: root, requiringSecureCoding: false)
        let back = try #require(try KeyedUnarchiver([UInt8](theirs)).decodeRootObject())
        // Foundation for Linux makes one object of numbers that are equal: 5 and 5.0.
        #expect(Self.text(back, isLoose: true) == Self.text(known, isLoose: true), "seed \(seed)")
    }

    /// A value of Foundation's in words.
    private static func text(_ value: Any) -> String {
        switch value {
        case let text as String: return "\"\(text)\""
        case let data as Data: return "<\(Array(data))>"
        case let date as Date: return "@\(date.timeIntervalSinceReferenceDate)"
        case let array as [Any]: return "[\(array.map { text($0) }.joined(separator: ","))]"
        case let entries as [String: Any]:
            return
                "{\(entries.sorted { $0.key < $1.key }.map { "\($0.key)=\(text($0.value))" }.joined(separator: ","))}"
        case let number as NSNumber: return Self.number(number.doubleValue)
        default: return "?\(value)"
        }
    }

    /// The same words for one of ours.
    private static func text(_ value: ArchiveValue, isLoose: Bool = false) -> String {
        switch value {
        case .collection(let collection):
            return "[\(collection.elements.map { $0.map { text($0) } ?? "nil" }.joined(separator: ","))]"
        case .dictionary(let dictionary):
            let entries = dictionary.entries.map {
                (key: $0.key?.stringValue ?? "", value: $0.value.map { text($0) } ?? "nil")
            }
            return "{\(entries.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ","))}"
        case .date(let date): return "@\(date.secondsSinceReferenceDate)"
        default:
            if let text = value.stringValue { return "\"\(text)\"" }
            if let bytes = value.dataValue { return "<\(bytes)>" }
            return value.realValue.map(number) ?? "?\(value)"
        }
    }

    /// Booleans and numbers by value: Foundation does not always tell them apart.
    private static func number(_ value: Double) -> String { "\(value == 0 ? 0 : value)" }
}

/// Property lists of every kind and width, to plistlib and to Foundation.
@Suite("Generated property lists")
struct PropertyListPropertyTests {
    static func value(_ seed: UInt64) throws -> PropertyListValue {
        var random = SplitMix(state: seed)
        func make(_ depth: Int) -> PropertyListValue {
            switch Int.random(in: 0..<(depth > 3 ? 6 : 9), using: &random) {
            case 0: return .boolean(Bool.random(using: &random))
            case 1: return .integer(GraphGenerator.integers.randomElement(using: &random) ?? 0)
            case 2: return .real(GraphGenerator.reals.randomElement(using: &random) ?? 0)
            case 3:
                return .date(
                    PropertyListDate(secondsSinceReferenceDate: Double(Int32.random(in: .min ... .max, using: &random)))
                )
            case 4: return .data(Array(repeating: 7, count: GraphGenerator.lengths.randomElement(using: &random) ?? 0))
            case 5:
                let text = ["", "plain", "Łódź", "🧸", "<&>"].randomElement(using: &random) ?? ""
                return .string(String(repeating: text, count: Int.random(in: 0..<70, using: &random)))
            case 6, 7: return .array((0..<Int.random(in: 0..<20, using: &random)).map { _ in make(depth + 1) })
            default:
                let count = Int.random(in: 0..<20, using: &random)
                return .fields(PropertyListFields((0..<count).map { ("key \($0)", make(depth + 1)) }))
            }
        }
        return .array((0..<30).map { _ in make(0) })
    }

    @Test("Python reads what we write and we read what it writes, in both forms")
    func python() throws {
        let folder = try TemporaryDirectory()
        var paths: [String] = []
        for seed in 0..<20 {
            for format in [PropertyListFormat.binary, .xml] {
                paths.append(try folder.write(Self.value(UInt64(seed)).encoded(as: format), to: "\(seed).\(format)"))
            }
        }
        let rewrite = """
            import plistlib, sys
            for path in sys.argv[1:]:
                value = plistlib.load(open(path, "rb"))
                for kind in ("FMT_BINARY", "FMT_XML"):
                    plistlib.dump(value, open(f"{path}.{kind}", "wb"), fmt=getattr(plistlib, kind))
            """
        #expect(try run("python3", ["-c", rewrite] + paths).status == .exited(0))
        for (index, path) in paths.enumerated() {
            for kind in ["FMT_BINARY", "FMT_XML"] {
                let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(path).\(kind)")))
                let (read, value) = (try PropertyListValue(decoding: bytes), try Self.value(UInt64(index / 2)))
                // Python's binary form makes one object of 0.0 and -0.0.
                let isSame = kind == "FMT_XML" ? read == value : Self.normal(read) == Self.normal(value)
                #expect(isSame, "\(path) \(kind)")
            }
        }
    }

    @Test("Foundation reads what we write and we read what it writes", arguments: 0..<20)
    func foundation(_ seed: Int) throws {
        let value = try Self.value(UInt64(seed))
        for (format, theirs) in [
            (PropertyListFormat.binary, PropertyListSerialization.PropertyListFormat.binary), (.xml, .xml),
        ] {
            let read = try PropertyListSerialization.propertyList(from: Data(value.encoded(as: format)), format: nil)
            let written = try PropertyListSerialization.data(fromPropertyList: read, format: theirs, options: 0)
            let back = try PropertyListValue(decoding: [UInt8](written))
            #expect(Self.normal(back) == Self.normal(value), "seed \(seed), \(format)")
        }
    }

    /// Without the sign of -0, which Foundation's XML writer and Python's binary writer drop.
    private static func normal(_ value: PropertyListValue) -> PropertyListValue {
        switch value {
        case .real(let value) where value == 0: .real(0)
        case .array(let elements): .array(elements.map(normal))
        case .dictionary(let entries): .dictionary(entries.mapValues(normal))
        default: value
        }
    }
}
