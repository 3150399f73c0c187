import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// One place has the version; what is made of it agrees.
@Suite("Version")
struct VersionTests {
    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(Project.root)/\(path)", encoding: .utf8)
    }

    private func version() throws -> String {
        let source = try text("Sources/Scripting/Host/CubbyVersion.swift")
        return String(try #require(source.firstMatch(of: /static let string = "(\d+\.\d+\.\d+)"/)).1)
    }

    @Test("the newest release of the change log is the program's")
    func changeLog() throws {
        let releases = try text("CHANGELOG.md").matches(of: /(?m)^## (\d+\.\d+\.\d+) – \d{4}-\d{2}-\d{2}$/)
        #expect(String(try #require(releases.first).1) == (try version()))
    }

    @Test(
        "--version says name, version, origin and Lua")
    func option() throws {
        let output = try Program()("--version")
        #expect(output.status == .exited(0))
        let built =
            /cubby (\S+) \((?:development build\)|(?:[0-9a-f]{7,40}\+?|unknown)\), Swift [0-9.]+), Lua 5\.4\.\d+\n/
        let parts = try #require(output.stdout.wholeMatch(of: built), "\(output.stdout)")
        #expect(String(parts.1) == (try version()))
    }
}
