import PropertyList
import TestSupport
import Testing

@Suite("Binary property lists")
struct BinaryPropertyListTests {
    static let values: [PropertyListValue] = [
        .null, .boolean(true), .boolean(false), .integer(0), .integer(255), .integer(256), .integer(65536),
        .integer(4_294_967_296), .integer(-1), .integer(.min), .integer(.max),
        .wideInteger(Int128(UInt64.max)), .real(0.5), .real(-0.0), .single(1.5), .real(.infinity),
        .date(PropertyListDate(secondsSinceReferenceDate: 0.25)), .data([]), .data([1, 2, 3]),
        .string(""), .string("name"), .string("é 🐻"), .string(String(repeating: "x", count: 70000)),
        .uid(0), .uid(255), .uid(256), .uid(65536), .uid(.max),
        .array([]), .set([.string("a")]),
        .dictionary(["a": .array([.dictionary([:])]), "b": .integer(5), "c": .real(5), "d": .boolean(true)]),
    ]

    @Test("values come back as they were", arguments: values)
    func roundTrip(_ value: PropertyListValue) throws {
        let bytes = try value.encoded(as: .binary)
        #expect(try PropertyListValue(decoding: bytes) == value)
    }

    @Test("texts of any units come back, an unpaired surrogate as units")
    func anyUnits() throws {
        let edges: [UInt16] = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000, 0xFFFF]
        var random = TestGenerator(seed: 7)
        let texts: [PropertyListValue] = (0..<5000).map { _ in
            let units = (0..<Int.random(in: 1...9, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? edges.randomElement(using: &random) ?? 0 : .random(in: 0...0xFFFF, using: &random)
            }
            return String(validating: units, as: UTF16.self).map { .string($0) } ?? .utf16(units)
        }
        #expect(try PropertyListValue(decoding: PropertyListValue.array(texts).encoded(as: .binary)) == .array(texts))
    }

    @Test("references and offsets get wide enough", arguments: [250, 256, 300, 65530, 65536, 70000])
    func widths(_ count: Int) throws {
        let value = PropertyListValue.array((0..<count).map { .string("string \($0)") })
        let bytes = try value.encoded(as: .binary)
        let isSame = try PropertyListValue(decoding: bytes) == value
        #expect(isSame)
    }
}
