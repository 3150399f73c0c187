import Foundation
import TestSupport
import Testing

/// What servers can be besides right, with the built program: the exit status, and what it says to do.
@Suite(
    "Servers that cannot be used", .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"),
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"))
final class SharedServerTests {
    private let program: Program
    private let server: PostgresServer

    init() throws {
        program = try Program()
        server = try PostgresServer(hasPort: true)
        #expect(try program("shared", "init", url()).status == .exited(0))
    }

    deinit { server.stop() }

    private func url(
        user: String = "owner", host: String = "127.0.0.1", database: String = "postgres", _ more: String = ""
    ) -> String {
        "postgres://\(user)@\(host):\(server.port ?? 0)/\(database)?collection=home\(more)"
    }

    /// Expects that `status` and a host end with a status and say a text.
    private func expect(
        _ status: Int32, _ text: String, _ url: String, _ environment: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for words in [["shared", "status", url], ["--shared", url, "-e", "print('ran')"]] {
            let output = try run(
                program.path, words, environment: program.environment.merging(environment) { $1 })
            #expect(output.status == .exited(status), "\(words): \(output.stderr)", sourceLocation: sourceLocation)
            let said = status == 0 ? output.stdout : output.stderr
            #expect(text.isEmpty || said.contains(text), "\(words): \(said)", sourceLocation: sourceLocation)
        }
    }

    @Test("roles, passwords and rights")
    func roles() throws {
        try server.sql("create role teller login password 'right'")
        try server.sql("create role stranger login")
        try server.sql("create role outsider login")
        try server.configure(
            "pg_hba.conf", "host all teller all scram-sha-256\nhost all outsider all reject")
        try expect(74, "PGPASSFILE", url(user: "teller"))
        try expect(74, "PGPASSFILE", url(user: "teller"), ["PGPASSWORD": "wrong"])
        try expect(65, "cubby shared grant ROLE", url(user: "teller"), ["PGPASSWORD": "right"])
        #expect(try program("shared", "grant", "teller", url()).status == .exited(0))
        try expect(0, "", url(user: "teller"), ["PGPASSWORD": "right"])
        try expect(74, "check the address", url(user: "unknown"))
        try expect(74, "pg_hba.conf", url(user: "outsider"))
        try expect(65, "cubby shared grant ROLE", url(user: "stranger"))
        let refused = try program("shared", "init", url(user: "stranger"))
        #expect(refused.status == .exited(65) && refused.stderr.contains("name the owner"), "\(refused.stderr)")
        let foreign = try program("shared", "init", url(user: "stranger", database: "template1"))
        #expect(foreign.status == .exited(65) && foreign.stderr.contains("name the owner"), "\(foreign.stderr)")
    }

    @Test(
        "certificates: over a network the server has to be the one that is named",
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/openssl"), "openssl is not installed"))
    func certificates() throws {
        let folder = program.scratch
        func openssl(_ words: String...) throws {
            let output = try run("openssl", words)
            guard output.status == .exited(0) else { throw TestFailure("\(words): \(output.stderr)") }
        }
        for name in ["good", "other"] {
            try openssl(
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-keyout",
                folder.file("\(name).key"), "-out", folder.file("\(name).crt"))
        }
        let (key, certificate) = (server.folder.file("key"), server.folder.file("crt"))
        try openssl(
            "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=museum.test", "-keyout", key, "-out",
            folder.file("csr"))
        try openssl(
            "x509", "-req", "-in", folder.file("csr"), "-CA", folder.file("good.crt"), "-CAkey",
            folder.file("good.key"),
            "-CAcreateserial", "-days", "2", "-out", certificate)
        for path in [key, certificate] { try server.give(path) }
        // The name is not the loopback's, the number is: nothing is looked up.
        let museum = url(host: "museum.test", "&hostaddr=127.0.0.1")
        let trusted = "&sslrootcert=\(folder.file("good.crt"))"
        try expect(74, "switch ssl on", museum + trusted)
        try server.configure("postgresql.conf", "ssl_cert_file = '\(certificate)'\nssl_key_file = '\(key)'\nssl = on")
        try expect(74, "signed by an authority", museum)
        try expect(74, "signed by an authority", museum + "&sslrootcert=\(folder.file("other.crt"))")
        try expect(
            74, "as its certificate does", url(host: "desk.test", "&hostaddr=127.0.0.1") + trusted)
        let status = try program("shared", "status", museum + trusted)
        #expect(status.stdout.contains("TLSv1."), "\(status.stderr)")
        // Within the sandbox the files are read again for a new connection.
        try expect(0, "", museum + trusted)
        try expect(0, "", museum, ["PGSSLROOTCERT": folder.file("good.crt")])
    }

    @Test(
        "whoever says where the server is, beyond the loopback it is asked for its certificate; nobody shows passwords")
    func resolved() throws {
        let path = program.scratch.file("services")
        let port = server.port ?? 0
        func service(_ name: String, _ lines: String...) -> String {
            "[\(name)]\nport=\(port)\nuser=owner\ndbname=postgres\npassword=geheim\n" + lines.joined(separator: "\n")
                + "\n"
        }
        try
            (service("museum", "host=museum.test", "hostaddr=127.0.0.1") + service("near", "host=127.0.0.1")
            + service("open", "host=museum.test", "hostaddr=127.0.0.1", "sslmode=disable"))
            .write(toFile: path, atomically: true, encoding: .utf8)
        let file = ["PGSERVICEFILE": path]
        func named(_ name: String) -> [String: String] { file.merging(["PGSERVICE": name]) { $1 } }
        let bare = "postgres://owner@/postgres?collection=home"
        for (url, environment) in [
            ("service=museum collection=home", file), ("postgres:///?service=museum&collection=home", file),
            ("postgres:///?collection=home", named("museum")),
            (bare, ["PGHOST": "museum.test", "PGHOSTADDR": "127.0.0.1", "PGPORT": "\(port)"]),
            (bare + "&hostaddr=127.0.0.1", ["PGHOST": "museum.test", "PGPORT": "\(port)"]),
            ("service=open collection=home sslmode=verify-full", file),
        ] { try expect(74, "switch ssl on", url, environment) }
        for (url, environment) in [
            ("service=near collection=home", file), ("postgres:///?collection=home", named("near")),
            ("service=open collection=home", file), ("service=museum collection=home sslmode=disable", file),
            (bare, ["PGHOST": "127.0.0.1", "PGPORT": "\(port)"]),
            (bare, ["PGHOSTADDR": "127.0.0.1", "PGPORT": "\(port)"]),
        ] { try expect(0, "", url, environment) }
        let missing = try run(
            program.path, ["shared", "status", "service=nowhere"], environment: program.environment.merging(file) { $1 }
        )
        #expect(missing.status == .exited(74) && missing.stderr.contains("nowhere"), "\(missing.stderr)")
        for words in [
            ["shared", "status", "service=museum"], ["shared", "status", "service=near collection=home"],
            ["doctor", "--shared", "service=near collection=home"], ["shared", "hosts", "service=nowhere"],
            ["shared", "status", "postgres://anna:geheim@127.0.0.1/db"],
            ["shared", "status", "http://anna:geheim@h/db"],
            ["shared", "status", "postgres://h/db?p%61ssword=geheim"],
            ["--shared", "host=h password = 'geheim'", "-e", ""],
        ] {
            let output = try run(program.path, words, environment: program.environment.merging(file) { $1 })
            #expect(!(output.stdout + output.stderr).contains("geheim"), "\(words)")
            if words.joined().contains("geheim") { #expect(output.status == .exited(64), "\(words): \(output.stderr)") }
        }
    }

    @Test(
        "hosts whose clocks are days apart",
        .enabled(if: SharedServerTests.fakeTime != nil, "libfaketime is not installed"), arguments: ["+1d", "-1d"])
    func clock(offset: String) throws {
        let environment = ["LD_PRELOAD": Self.fakeTime ?? "", "FAKETIME": offset]
        for (environment, code) in [
            (environment, "items:createItem{ itemKey = 'k' }"), ([:], "items:item('k').name = 'Vase'"),
            (environment, "items:transaction(function() items:item('k').name = items[1].name .. ' 2' end)"),
        ] {
            let output = try run(
                program.path, ["--shared", url(), "-e", code],
                environment: program.environment.merging(environment) { $1 })
            #expect(output.status == .exited(0), "\(code): \(output.stderr)")
        }
        #expect(try program("--shared", url(), "-e", "print(items[1].name)").stdout == "Vase 2\n")
    }

    private static let fakeTime: String? = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"]
        .map { $0 + "/faketime/libfaketimeMT.so.1" }.first { FileManager.default.fileExists(atPath: $0) }
}
