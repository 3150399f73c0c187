import PropertyList
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

    @Test("references and offsets get wide enough", arguments: [250, 256, 300, 65530, 65536, 70000])
    func widths(_ count: Int) throws {
        let value = PropertyListValue.array((0..<count).map { .string("string \($0)") })
        let bytes = try value.encoded(as: .binary)
        let isSame = try PropertyListValue(decoding: bytes) == value
        #expect(isSame)
    }
}
