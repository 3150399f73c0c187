import Testing

@testable import SharedItems

@Suite("Addresses of shared collections")
struct SharedAddressTests {
    @Test(
        "the database and the collection",
        arguments: [
            ("postgres://anna@db.museum.org/art?collection=home", "postgres://anna@db.museum.org/art", "home"),
            ("postgres://a,b:5433/db?sslmode=require&collection=x", "postgres://a,b:5433/db?sslmode=require", "x"),
            ("postgres://u@/db?host=/tmp/pg&collection=a%20b", "postgres://u@/db?host=/tmp/pg", "a b"),
            ("postgresql://h/db", "postgresql://h/db", "items"),
            ("service=museum collection=art", "service=museum", "art"),
        ])
    func parts(text: String, database: String, collection: String) throws {
        let address = try SharedAddress(text)
        #expect(address.database == database)
        #expect(address.collection == collection)
        #expect(address.description == text)
    }

    @Test(
        "a password is refused, wherever it is",
        arguments: [
            "postgres://anna:secret@db/art", "postgres://db/art?password=secret", "host=db password=secret",
            "postgres://db/art?collection=a&sslpassword=x",
        ])
    func password(text: String) {
        #expect(throws: SharedAddressError.password) { try SharedAddress(text) }
    }

    @Test("what is not an address", arguments: ["museum", "", "http", "sqlite://x"])
    func notAnAddress(text: String) {
        #expect(throws: SharedAddressError.self) { try SharedAddress(text) }
    }

    @Test("a collection's name has to be one", arguments: ["", "a%0Ab", String(repeating: "x", count: 201)])
    func badCollection(name: String) {
        #expect(throws: SharedAddressError.self) { try SharedAddress("postgres://h/db?collection=\(name)") }
    }
}
