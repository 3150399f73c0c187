import Foundation
import PropertyList
import TestSupport
import Testing

/// Codable values as property lists, beside Foundation's coders, which are the judge of every file.
@Suite("Codable property lists")
struct PropertyListCodableTests {
    struct Book: Codable, Equatable {
        var title = "Moby-Dick 🐋"
        var pages = 635
        var price = 12.5
        var weight: Float = 0.1
        var isRead = true
        var bought = Date(timeIntervalSinceReferenceDate: 123_456)
        var cover = Data([0, 1, 255])
        var publisher: Publisher? = Publisher()
        var lender: String?
        var tags = ["whale", "", "é"]
        var ratings: [Int?] = [5, nil, -3]
        var shelf: [String: [Int]] = ["a": [1], "b": []]
        var identifier = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        var site = URL(string: "https://example.com/b?c=d")
        var form = Form.hardcover
        var limits: [UInt64] = [0, .max]
        var smallest = Int64.min
        var byNumber = [1: "one", -2: "two"]
        var state = State.lent(to: "Ishmael", days: 3)
    }

    struct Publisher: Codable, Equatable { var city = "London", years = [1851] }
    enum Form: String, Codable { case hardcover, paperback }
    enum State: Codable, Equatable { case here, lent(to: String, days: Int) }

    class Base: Codable { var x = 1 }
    final class Derived: Base {
        var y = 2
        enum Keys: String, CodingKey { case y }
        override init() { super.init() }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            y = try container.decode(Int.self, forKey: .y)
            try super.init(from: container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(y, forKey: .y)
            try super.encode(to: container.superEncoder())
        }
    }

    private static func encoders(
        _ format: PropertyListFormat
    ) -> (ours: PropertyList.PropertyListEncoder, theirs: Foundation.PropertyListEncoder) {
        var ours = PropertyList.PropertyListEncoder()
        ours.outputFormat = format
        let theirs = Foundation.PropertyListEncoder()
        theirs.outputFormat = format == .binary ? .binary : .xml
        return (ours, theirs)
    }

    /// What each of both writes is read by both, and is the same list.
    private static func judge<Value: Codable & Equatable>(_ value: Value, _ format: PropertyListFormat) throws {
        let (ours, theirs) = encoders(format)
        let written = try ours.encode(value)
        let foreign = try [UInt8](theirs.encode(value))
        #expect(try PropertyListValue(decoding: written) == PropertyListValue(decoding: foreign))
        for bytes in [written, foreign] {
            #expect(try PropertyList.PropertyListDecoder().decode(Value.self, from: bytes) == value)
            #expect(try Foundation.PropertyListDecoder().decode(Value.self, from: Data(bytes)) == value)
        }
    }

    @Test("a model is the same list as Foundation's, and is read by both", arguments: PropertyListFormat.allCases)
    func judged(_ format: PropertyListFormat) throws {
        try Self.judge(Book(), format)
        try Self.judge([Book(), Book()], format)
        try Self.judge(["a": Book()], format)
        try Self.judge([Date(timeIntervalSinceReferenceDate: 0)], format)
        try Self.judge([[[Int]]](), format)
        try Self.judge([State.here, .lent(to: "", days: 0)], format)
        try Self.judge([Double.infinity, -0.0, 1e300, .leastNonzeroMagnitude], format)
        try Self.judge(Data([1, 2]), format)
        let (ours, theirs) = Self.encoders(format)
        let (one, other) = (try ours.encode(Derived()), try [UInt8](theirs.encode(Derived())))
        #expect(try PropertyListValue(decoding: one) == PropertyListValue(decoding: other))
        #expect(try PropertyList.PropertyListDecoder().decode(Derived.self, from: other).x == 1)
    }

    @Test("integers have up to 128 bits")
    func wide() throws {
        let wide = [Int128.max, .min, 0, 1 << 64]
        let bytes = try PropertyList.PropertyListEncoder().encode(wide)
        #expect(try PropertyList.PropertyListDecoder().decode([Int128].self, from: bytes) == wide)
        #expect(Self.problem(wide, .xml).hasPrefix(": XML property lists hold integers from -2^63 to 2^64-1"))
    }

    @Test("random models come back as they were", arguments: PropertyListFormat.allCases)
    func random(_ format: PropertyListFormat) throws {
        var random = TestGenerator(seed: 7)
        for _ in 0..<60 {
            var book = Book()
            book.title = String((0..<random.number(12)).map { _ in "aé🐋\n<&\"'"[random.number(8)] })
            book.pages = Int(truncatingIfNeeded: random.next())
            book.price = Double(bitPattern: random.next())
            if book.price.isNaN { book.price = 0 }
            book.cover = Data((0..<random.number(20)).map { UInt8(truncatingIfNeeded: $0 &* 37) })
            book.lender = random.number(2) == 0 ? nil : book.title
            book.ratings = (0..<random.number(5)).map { $0 % 2 == 0 ? nil : $0 }
            book.publisher = random.number(2) == 0 ? nil : Publisher()
            try Self.judge(book, format)
        }
    }

    private static func decoded<Value: Decodable>(_ type: Value.Type, _ xml: String) -> String {
        let list =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\"><dict><key>a</key>\(xml)</dict></plist>"
        do {
            let value = try PropertyList.PropertyListDecoder().decode([String: Value].self, from: Array(list.utf8))
            return value["a"].map { "\($0)" } ?? "nothing"
        } catch let error as DecodingError { return problem(error) } catch { return "\(error)" }
    }

    private static func problem(_ error: DecodingError) -> String {
        switch error {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context),
            .keyNotFound(_, let context):
            return context.codingPath.map(\.stringValue).joined(separator: ".") + ": " + context.debugDescription
        @unknown default: return "\(error)"
        }
    }

    @Test("numbers are exact, and no kind becomes another one")
    func kinds() {
        #expect(Self.decoded(Int.self, "<real>3.0</real>") == "3")
        #expect(Self.decoded(Int.self, "<real>3.5</real>") == "a: 3.5 does not fit into an Int")
        #expect(Self.decoded(Double.self, "<integer>3</integer>") == "3.0")
        #expect(Self.decoded(Int8.self, "<integer>300</integer>") == "a: 300 does not fit into an Int8")
        #expect(Self.decoded(UInt.self, "<integer>-1</integer>") == "a: -1 does not fit into a UInt")
        #expect(
            Self.decoded(Double.self, "<integer>9007199254740993</integer>")
                == "a: 9007199254740993 is not a Double exactly")
        #expect(Self.decoded(Float.self, "<real>1e300</real>") == "a: 1e+300 does not fit into a Float")
        #expect(Self.decoded(String.self, "<integer>3</integer>") == "a: an integer where a String is expected")
        #expect(Self.decoded(Bool.self, "<integer>1</integer>") == "a: an integer where a Bool is expected")
        #expect(Self.decoded(Int.self, "<true/>") == "a: a boolean where an Int is expected")
        #expect(Self.decoded(Date.self, "<real>3</real>") == "a: a real where a Date is expected")
        #expect(Self.decoded([UInt8].self, "<data>AQI=</data>") == "a: data where an array is expected")
        #expect(Self.decoded(String.self, "<string>$null</string>") == "a: no value where a String is expected")
        #expect(Self.decoded(Int?.self, "<string>$null</string>") == "nil")
        #expect(Self.decoded(Publisher.self, "<dict/>") == "a: there is no key \"city\"")
    }

    /// The error of encoding a value.
    private static func problem(_ value: some Encodable, _ format: PropertyListFormat = .binary) -> String {
        let result = Result { try encoders(format).ours.encode(value) }
        switch result {
        case .success: return "written"
        case .failure(let EncodingError.invalidValue(_, context)):
            return context.codingPath.map(\.stringValue).joined(separator: ".") + ": " + context.debugDescription
        case .failure(let error): return "\(error)"
        }
    }

    @Test("what a list has not is refused by name")
    func refused() {
        #expect(Self.problem(5) == ": a property list is a dictionary, an array or data, and Int is a number")
        #expect(Self.problem("x") == ": a property list is a dictionary, an array or data, and String is a text")
        #expect(Self.problem(Optional<Int>.none).hasSuffix("is a text"))
        #expect(Self.problem(["a": ["x", "$null"]]) == "a.1: the text $null stands for nil in property lists")
        #expect(Self.problem([UInt128.max]) == "0: an integer has 128 bits at most")
        #expect(Self.problem(["a\u{0}b"], .xml) != "written")
        let moment = Date(timeIntervalSinceReferenceDate: 0.5)
        #expect(Self.problem([moment], .xml).hasPrefix(": as XML, 1 date lost its fraction of a second"))
        #expect(Self.problem([moment], .binary) == "written")
        // Each level is a container more than a list may have.
        struct Nest: Encodable {
            let depth: Int
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                if depth > 0 { try container.encode(Nest(depth: depth - 1)) }
            }
        }
        #expect(Self.problem(Nest(depth: 300)) == "written")
        #expect(Self.problem(Nest(depth: 100_000)).hasSuffix(": nested too deep"))
        // Each level passes its encoder on, as a class does to its superclass.
        struct Heir: Encodable {
            let depth: Int
            enum CodingKeys: CodingKey { case depth, heir }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(depth.isMultiple(of: 2), forKey: .depth)
                if depth > 0 { try Heir(depth: depth - 1).encode(to: container.superEncoder(forKey: .heir)) }
            }
        }
        #expect(Self.problem(Heir(depth: 300)) == "written")
        #expect(Self.problem(Heir(depth: 100_000)).hasSuffix(": nested too deep"))
    }

    @Test("bytes that are no list, and damaged ones, are an error")
    func damaged() throws {
        let bytes = try PropertyList.PropertyListEncoder().encode(Book())
        for length in stride(from: 0, to: bytes.count, by: 7) {
            #expect(throws: DecodingError.self) {
                try PropertyList.PropertyListDecoder().decode(Book.self, from: Array(bytes[..<length]))
            }
        }
    }

    @Test("decoding says which format the list has, as Foundation's decoder does")
    func format() throws {
        for format in PropertyListFormat.allCases {
            var encoder = PropertyList.PropertyListEncoder()
            encoder.outputFormat = format
            let bytes = try encoder.encode(["a": [1, 2]])
            for start in PropertyListFormat.allCases {
                var found = start
                let decoder = PropertyList.PropertyListDecoder()
                #expect(try decoder.decode([String: [Int]].self, from: bytes, format: &found) == ["a": [1, 2]])
                #expect(found == format)
                // A list that is another value has a format all the same.
                found = start
                #expect(throws: DecodingError.self) { try decoder.decode([Int].self, from: bytes, format: &found) }
                #expect(found == format)
            }
            var theirs = PropertyListSerialization.PropertyListFormat.openStep
            _ = try Foundation.PropertyListDecoder().decode([String: [Int]].self, from: Data(bytes), format: &theirs)
            #expect(theirs == (format == .xml ? .xml : .binary))
        }
        var format = PropertyListFormat.xml
        #expect(throws: DecodingError.self) {
            try PropertyList.PropertyListDecoder().decode([Int].self, from: Array("no list".utf8), format: &format)
        }
        #expect(format == .xml)
        let openStep = Array("{ a = (x); }".utf8)
        #expect(
            try PropertyList.PropertyListDecoder().decode([String: [String]].self, from: openStep, format: &format) == [
                "a": ["x"]
            ])
        #expect(format == .xml)
    }

    @Test("a value finds what the caller gives it")
    func userInfo() throws {
        struct Asking: Codable {
            init() {}
            init(from decoder: any Decoder) throws { try #require(Self.key.map { decoder.userInfo[$0] as? Int } == 7) }
            func encode(to encoder: any Encoder) throws {
                try #require(Self.key.map { encoder.userInfo[$0] as? Int } == 7)
                var container = encoder.unkeyedContainer()
                try container.encode(1)
            }
            static let key = CodingUserInfoKey(rawValue: "number")
        }
        var encoder = PropertyList.PropertyListEncoder()
        let key = try #require(Asking.key)
        encoder.userInfo[key] = 7
        var decoder = PropertyList.PropertyListDecoder()
        decoder.userInfo[key] = 7
        _ = try decoder.decode(Asking.self, from: encoder.encode(Asking()))
    }

    @Test("Keys that are one key in Swift are an error of a dictionary, not of a type that has one of them")
    func mergedKeys() throws {
        struct Named: Decodable { var é: Int }
        let list = Array(
            "<plist><dict><key>é</key><integer>1</integer><key>e\u{301}</key><integer>2</integer></dict></plist>".utf8)
        let decoder = PropertyList.PropertyListDecoder()
        #expect(throws: DecodingError.self) { try decoder.decode([String: Int].self, from: list) }
        #expect(try decoder.decode(Named.self, from: list).é == 1)
    }

    @Test("A real that would be 0 or infinite as a Float is an error", arguments: ["1e-60", "-1e-60", "1e300"])
    func floats(number: String) {
        let list = Array("<plist><array><real>\(number)</real></array></plist>".utf8)
        #expect(throws: DecodingError.self) { try PropertyList.PropertyListDecoder().decode([Float].self, from: list) }
    }
}

extension String {
    fileprivate subscript(place: Int) -> Character { self[index(startIndex, offsetBy: place)] }
}
