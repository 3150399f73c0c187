import CPlatform
import PropertyList
import Testing

@Suite("What one conversion may take")
struct ConversionBudgetTests {
    @Test("values, bytes and what they unfold to each have a limit")
    func limits() throws {
        var budget = ConversionBudget(values: 3, bytes: 100)
        try budget.visit(bytes: 40)
        try budget.reserve(60)
        #expect(throws: ConversionError.tooManyBytes(limit: 100)) { try budget.reserve(61) }
        try budget.visit(bytes: 60)
        #expect(throws: ConversionError.tooManyBytes(limit: 100)) { try budget.visit(bytes: 1) }
        #expect(throws: ConversionError.tooManyValues(limit: 3)) { try budget.visit() }
    }

    @Test(
        "what is shared may unfold to 64 times its values, and 65,536 more",
        arguments: [(0, 65_536), (1, 65_600), (1000, 129_536), (1 << 40, 1 << 24), (Int.max, 1 << 24)])
    func unfolded(_ count: Int, _ limit: Int) {
        #expect(ConversionBudget.unfolded(from: count, atMost: 1 << 24) == limit)
    }

    @Test("counts of values do not overflow")
    func sums() {
        #expect(ConversionBudget.sum(2, 3) == 5)
        #expect(ConversionBudget.sum(.max, 3) == .max)
        #expect(throws: ConversionError.unfoldsTooFar(limit: 65_536)) {
            try ConversionBudget().check(unfolded: .max)
        }
    }

    /// Runs a body whose thread is asked to stop.
    private func stopped<Value>(_ body: () -> Value) -> Value {
        let former = cubby_watch_work(cubby_watch(is_stopped: { _ in 1 }, capacity: nil, context: nil))
        defer { _ = cubby_watch_work(former) }
        return body()
    }

    @Test("every conversion gives up when it has to stop")
    func interruption() throws {
        let value = PropertyListValue.array((0..<5000).map { .dictionary(["k": .integer($0)]) })
        let binary = try value.encoded(as: .binary)
        let xml = try value.encoded(as: .xml)
        let json = try value.json()
        let reader = try BinaryPropertyListReader(binary)
        let attempts: [(String, () throws -> Void)] = [
            ("to binary", { _ = try value.encoded(as: .binary) }), ("to XML", { _ = try reader.xml() }),
            ("to JSON", { _ = try value.json() }), ("to tagged JSON", { _ = try reader.json() }),
            ("from binary", { _ = try PropertyListValue(decoding: binary) }),
            ("from XML", { _ = try PropertyListValue(decoding: xml) }),
            ("from JSON", { _ = try PropertyListValue(json: json) }),
            ("from tagged JSON", { _ = try json.withUnsafeBytes { try BinaryPropertyListReader(json: $0) } }),
        ]
        for (name, attempt) in attempts {
            try attempt()
            #expect(stopped { (try? attempt()) == nil }, "\(name) went on")
        }
        #expect(!Interruption.isDue)
    }
}
