import KeyedArchive
import PropertyList

/// Makes object graphs of every kind, the same for each seed.
struct GraphGenerator {
    private var random: SplitMix
    private var objects: [ArchiveValue] = []
    /// Whether there are only trees of what Foundation for Linux can read: no cycles, no objects of unknown classes.
    private let isPlain: Bool

    init(seed: UInt64, isPlain: Bool = false) {
        random = SplitMix(state: seed)
        self.isPlain = isPlain
    }

    private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

    static let integers: [Int64] = [
        0, 1, -1, 127, 128, 255, 256, 65535, 65536, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0x1_0000_0000, .max, .min,
        -128,
    ]
    static let reals: [Double] = [0, -0.0, 0.1, 5, -1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1 / 3]
    static let lengths = [0, 1, 14, 15, 16, 255, 256, 300]

    mutating func text() -> String {
        let count = Self.lengths[below(Self.lengths.count)]
        switch below(6) {
        case 0: return String(repeating: "ä", count: min(count, 40))
        case 1: return String(repeating: "🧸", count: min(count, 20))
        case 2: return "<&>\"'\t\n "
        default: return String((0..<count).map { _ in Character(Unicode.Scalar(UInt8(32 + below(95)))) })
        }
    }

    mutating func leaf() -> ArchiveValue {
        switch below(isPlain ? 7 : 12) {
        case 0: return .string(text())
        case 1: return .integer(Self.integers[below(Self.integers.count)])
        case 2: return .integer(Int64.random(in: .min ... .max, using: &random) >> Int64(below(64)))
        case 3: return .real(Self.reals[below(Self.reals.count)])
        case 4: return .boolean(below(2) == 0)
        case 5:
            return .date(PropertyListDate(secondsSinceReferenceDate: Double(below(2_000_000_000) - 1_000_000_000) / 8))
        case 6:
            return .data(
                (0..<Self.lengths[below(Self.lengths.count)]).map { _ in UInt8(truncatingIfNeeded: below(256)) })
        case 7: return .null
        case 8: return .wideInteger(Int128(UInt64.max) - Int128(below(100)))
        case 9: return .single(Float(below(1000)) / 8)
        case 10: return .value(.uuid((0..<16).map { _ in UInt8(truncatingIfNeeded: below(256)) }))
        default: return .value(.url("https://example.com/\(below(50))", base: nil))
        }
    }

    /// A graph of about `size` objects.
    mutating func graph(_ size: Int) -> ArchiveGraph {
        objects = []
        let root = ArchivedCollection(.array, isMutable: below(2) == 0)
        objects.append(.collection(root))
        while objects.count < size { objects.append(container()) }
        // Contents come last, so that any object may hold any other: shared, in cycles, itself.
        for (index, object) in objects.enumerated() { fill(object, index) }
        // Nothing is left out of reach.
        root.elements += objects.dropFirst().map { $0 }
        return ArchiveGraph(root: objects[0])
    }

    private mutating func container() -> ArchiveValue {
        switch below(isPlain ? 2 : 8) {
        case 0: .collection(ArchivedCollection(.array, isMutable: !isPlain && below(2) == 0))
        case 1: .dictionary(ArchivedDictionary(isMutable: !isPlain && below(2) == 0))
        case 2: .collection(ArchivedCollection(.orderedSet, isMutable: below(2) == 0))
        case 3: .collection(ArchivedCollection(.set, isMutable: below(2) == 0))
        case 4: .mutableString(ArchivedMutableString(text()))
        case 5: .mutableData(ArchivedMutableData([1, 2, 3]))
        default: .unknown(ArchivedObject(ArchivedClass("Class\(below(4))", superclasses: ["Base", "NSObject"])))
        }
    }

    /// A leaf, or an object that is there: in a plain graph one that comes later, so that there are no cycles.
    private mutating func value(_ index: Int) -> ArchiveValue? {
        switch below(4) {
        case 0 where !isPlain: return objects[below(objects.count)]
        case 0 where index + 1 < objects.count: return objects[index + 1 + below(objects.count - index - 1)]
        case 1 where !isPlain && below(4) == 0: return nil
        default: return leaf()
        }
    }

    private mutating func fill(_ object: ArchiveValue, _ index: Int) {
        let count = below(6)
        switch object {
        case .collection(let collection): for _ in 0..<count { collection.elements.append(value(index)) }
        case .dictionary(let dictionary):
            for number in 0..<count {
                dictionary.entries.append(
                    ArchivedDictionary.Entry(key: .string("key \(number)"), value: value(index)))
            }
        case .unknown(let object):
            for number in 0..<count {
                let key = number == 0 ? "$key" : "key\(number)"
                object.fields.append(ArchivedObject.Field(key: key, value: field(index)))
            }
        default: break
        }
    }

    private mutating func field(_ index: Int) -> ArchivedObject.FieldValue {
        switch below(6) {
        case 0: return .inline(.integer(Self.integers[below(Self.integers.count)]))
        case 1: return .inline(.real(Self.reals[below(Self.reals.count)]))
        case 2: return .inline(.data([0, 255]))
        case 3: return .inline(.boolean(true))
        default: return .object(value(index))
        }
    }
}
