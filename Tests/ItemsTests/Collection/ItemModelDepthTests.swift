import ItemsTestSupport
import Testing

@testable import Items

/// Models that hold themselves.
@Suite("The depth of models")
struct ItemModelDepthTests {
    /// Levels that are made when they are asked for.
    private struct Chain: Encodable, CustomStringConvertible {
        enum Form: String, CaseIterable { case field, array, superclass, single }
        enum CodingKeys: CodingKey { case depth, next }

        let depth: Int
        let form: Form

        // A value of such a depth cannot be printed.
        var description: String { fatalError("a chain is printed") }

        func encode(to encoder: any Encoder) throws {
            let next = depth > 0 ? Chain(depth: depth - 1, form: form) : nil
            if form == .single, let next {
                var container = encoder.singleValueContainer()
                return try container.encode(next)
            }
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(depth, forKey: .depth)
            guard let next else { return }
            switch form {
            case .superclass: try next.encode(to: container.superEncoder(forKey: .next))
            case .array: try container.encode([next], forKey: .next)
            case .field, .single: try container.encode(next, forKey: .next)
            }
        }
    }

    private struct Model: Encodable { var name = "a", chain: Chain }

    @Test("a model of 100,000 levels ends with an error, which can be printed", arguments: Chain.Form.allCases)
    private func endless(form: Chain.Form) throws {
        #expect(try ItemModelEncoder.fields(of: Model(chain: Chain(depth: 50, form: form))).count == 2)
        let error = try #require(throws: EncodingError.self) {
            try ItemModelEncoder.fields(of: Model(chain: Chain(depth: 100_000, form: form)))
        }
        #expect(
            "\(error)".contains(form == .single ? "deeper than the thread's stack" : "chain nests more than 128 deep"))
    }

    /// A class whose objects hold each other.
    private final class Person: Codable, @unchecked Sendable {
        var name: String
        var friend: Person?
        init(name: String) { self.name = name }
    }

    @Test("what a field takes is as deep as what is encoded; a cycle is refused with the field")
    func cycle() async throws {
        let people = try ItemDatabase().collection(of: Person.self)
        func chain(_ count: Int) -> Person {
            (1...count).reduce(Person(name: "0")) { friend, number in
                let person = Person(name: "\(number)")
                person.friend = friend
                return person
            }
        }
        try await people.insert(chain(128))
        #expect(try await people.fetch().map(\.name) == ["128"])
        for count in [129, 140] {
            let error = await #expect(throws: StoreError.self) { try await people.insert(chain(count)) }
            #expect(error?.description.contains("friend") == true)
            #expect(error?.description.contains("nests more than 128 deep: store it in flatter form") == true)
        }
        let person = Person(name: "itself")
        person.friend = person
        defer { person.friend = nil }
        await #expect(throws: StoreError.self) { try await people.insert(person) }
        #expect(try await people.count() == 1)
    }
}
