import Glibc
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
            ("host = db  collection = 'my art'  dbname='a  b'", "host = db dbname='a  b'", "my art"),
            ("dbname='it\\'s collection=x' collection=art", "dbname='it\\'s collection=x'", "art"),
            ("postgres://h/password?collection=a", "postgres://h/password", "a"),
            ("postgres://anna%3Ax@h/db", "postgres://anna%3Ax@h/db", "items"),
            ("service=museum passfile=/home/anna/.pgpass", "service=museum passfile=/home/anna/.pgpass", "items"),
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
            "postgres://anna:s%65cret@db/art", "postgres://anna:se?cret@db/art", "postgres://anna:se:cret@db,other/art",
            "postgres://:secret@db/art", "postgresql://anna:secret@/art?host=/tmp", "POSTGRES://anna:secret@db/art",
            "http://anna:secret@db/art", "postgres://db/art?p%61ssword=secret",
            "postgres://db/art?collection=a&%70assword=secret",
            "postgres://db/art?PASSWORD=secret", "postgres://db/art?sslp%61ssword=secret",
            "postgres://db?password=secret",
            "host=db password = secret", "host=db password= 'se cret'", "host=db\tpassword=secret",
            "host=db\npassword\n=\nsecret",
            "password=secret", "dbname='a b'password=secret", "host=db sslpassword=secret", "host=db Password=secret",
            "postgres://db/art password=secret", "host=db oauth_client_secret=secret",
        ])
    func password(text: String) {
        let error = #expect(throws: SharedError.self) { try SharedAddress(text) }
        #expect(error?.code == .badAddress && error?.message == SharedAddressError.password.description)
        #expect(!SharedAddressError.password.description.contains("secret"))
    }

    @Test("a password that only libpq finds is refused before it connects, and not shown")
    func foundByLibrary() throws {
        guard let library = try? PostgresLibrary.functions() else { return }
        // An accent belongs to the character before it, and to libpq the byte stands for itself.
        let hidden = try SharedAddress("postgres://db/art?password=\u{301}hidden")
        let error = #expect(throws: PostgresError.self) { try PostgresParameters(hidden, library) }
        #expect(error?.kind == .badAddress && error?.message.contains("hidden") == false)
    }

    // MARK: TLS

    @Test(
        "beyond the loopback a server has to show its certificate, whichever setting says where it is",
        arguments: [
            ("postgres://db.museum.org/art", "verify-full"), ("postgres://a@/art?hostaddr=192.0.2.7", "verify-full"),
            ("hostaddr=192.0.2.7", "verify-full"), ("host=localhost hostaddr=192.0.2.7", "verify-full"),
            ("host=/tmp hostaddr=2001:db8::1", "verify-full"), ("host=127.0.0.1,db", "verify-full"),
            ("host=db hostaddr=127.0.0.1", "verify-full"), ("host=127.0.0.1.museum.org", "verify-full"),
            ("host=db sslmode=require", "require"), ("postgres://db/art?sslmode=prefer", "prefer"),
            ("hostaddr=192.0.2.7 sslmode=disable", "disable"), ("postgres://localhost/art", "prefer"),
            ("host=127.0.0.1", "prefer"), ("host=::1", "prefer"), ("hostaddr=127.9.9.9", "prefer"),
            ("host=/tmp", "prefer"), ("host=@pg", "prefer"), ("host=localhost,/tmp", "prefer"),
            ("host=::1,localhost hostaddr=::1,127.0.0.1", "prefer"),
        ])
    func mode(text: String, mode: String) throws {
        guard let library = try? PostgresLibrary.functions(), getenv("PGSSLMODE") == nil, getenv("PGSERVICE") == nil
        else { return }
        var parameters = try PostgresParameters(SharedAddress(text), library)
        try parameters.resolve(library)
        #expect(parameters.resolved["sslmode"] == mode)
        let passed = parameters.withLists { names, values in
            var found: String?
            var place = 0
            while let name = names[place], let value = values[place] {
                if String(cString: name) == "sslmode" { found = String(cString: value) }
                place += 1
            }
            return found
        }
        #expect((passed ?? nil) == (mode == "verify-full" ? mode : nil))
    }

    @Test("what is not an address", arguments: ["museum", "", "http", "sqlite://x"])
    func notAnAddress(text: String) {
        let error = #expect(throws: SharedError.self) { try SharedAddress(text) }
        #expect(error?.code == .badAddress && error?.message == SharedAddressError.notAnAddress(text).description)
    }

    @Test("a collection's name has to be one", arguments: ["", "a%0Ab", String(repeating: "x", count: 201)])
    func badCollection(name: String) {
        let error = #expect(throws: SharedError.self) { try SharedAddress("postgres://h/db?collection=\(name)") }
        #expect(error?.code == .badAddress && error?.message.hasPrefix("a collection cannot be named '") == true)
    }
}
