import PropertyList
import Testing

@testable import Gallery

@Suite("Values of a gallery")
struct GalleryValueTests {
    static let cases: [(PropertyListValue, String?)] = [
        (.string("a\"b"), "\"a\\\"b\""), (.integer(.min), "\"-9223372036854775808\""),
        (.integer(1 << 53), "9007199254740992"), (.wideInteger(1 << 64), "\"18446744073709551616\""),
        (.real(1.5), "1.5"),
        (.real(.nan), "\"nan\""), (.single(-.infinity), "\"-inf\""), (.boolean(true), "true"),
        (.date(PropertyListDate(secondsSinceReferenceDate: 0)), "\"2001-01-01T00:00:00Z\""),
        (.data([1, 2, 3]), "\"3 bytes\""), (.array([.integer(1), .null]), "[1,null]"),
        (.dictionary(["a": .array([]), "b": .null]), "{\"a\":[]}"), (.null, nil), (.uid(3), nil),
    ]

    @Test("each kind has a form in JSON, or none", arguments: cases)
    func form(value: PropertyListValue, expected: String?) throws {
        let text = try GalleryValue.of(value).map { String(decoding: try $0.json(), as: UTF8.self) }
        #expect(text == expected)
    }
}
