import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// Containers that others than the user can write to, and copies that they could read.
@Suite("Containers and other users")
struct SharedContainerTests {
    let program: Program
    let manager = FileManager.default

    init() throws {
        program = try Program()
        try manager.createDirectory(
            atPath: "\(program.container)/Library/Scripts", withIntermediateDirectories: true)
        try program.scratch.write("print('init ran')", to: "container/Library/Scripts/init.lua")
        for (path, _) in try permissions(of: program.container) {
            try set(path.hasSuffix(".lua") ? 0o600 : 0o700, path)
        }
        try set(0o700, program.container)
        #expect(try program("-e", "items:createItem() items:saveChanges()").stdout == "init ran\n")
    }

    private func set(_ permissions: Int, _ path: String) throws {
        try manager.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }

    private func permissions(of folder: String) throws -> [String: Int] {
        var found: [String: Int] = [:]
        for name in try manager.subpathsOfDirectory(atPath: folder) {
            let path = "\(folder)/\(name)"
            found[path] = try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        return found
    }

    /// What is opened to others, from the root on, and the part that they can then write.
    static let openings: [(parts: [(String, Int)], exposed: String?)] = [
        ([], nil), ([("", 0o755)], nil), ([("", 0o777)], ""), ([("Library", 0o777)], nil),
        ([("", 0o755), ("Library", 0o777)], "Library"), ([("", 0o711), ("Library", 0o722)], "Library"),
        ([("", 0o755), ("Library", 0o755), ("Library/Scripts", 0o777)], "Library/Scripts"),
        (
            [("", 0o755), ("Library", 0o755), ("Library/Scripts", 0o755), ("Library/Scripts/init.lua", 0o666)],
            "Library/Scripts/init.lua"
        ), ([("Library/Scripts/init.lua", 0o666)], nil),
    ]

    @Test(
        "an init.lua that others can write or replace is passed over; the command that is told mends it",
        arguments: openings)
    func initScript(parts: [(String, Int)], exposed: String?) throws {
        func path(_ part: String) -> String { part.isEmpty ? program.container : "\(program.container)/\(part)" }
        for (part, permissions) in parts { try set(permissions, path(part)) }
        let result = try program("-e", "print('ran')")
        let check = try program("check", program.container)
        let doctor = try program("doctor")
        guard let exposed else {
            #expect(result.stdout == "init ran\nran\n", "\(result.stderr)")
            #expect(check.stdout.hasSuffix("nothing is wrong\n"), "\(check.stdout)")
            return #expect(!doctor.stdout.contains("chmod"), "\(doctor.stdout)")
        }
        let command = "chmod go-w \(path(exposed))"
        #expect(result.status == .exited(0))
        #expect(result.stdout == "ran\n")
        #expect(result.stderr.contains("\(command) mends it") && result.stderr.contains("init.lua was skipped"))
        #expect(check.status == .exited(0))
        #expect(check.stdout.contains("warning: ") && check.stdout.contains(command), "\(check.stdout)")
        #expect(doctor.stdout.contains(command), "\(doctor.stdout)")
        #expect(try run("/bin/sh", ["-c", command]).status == .exited(0))
        #expect(try program("-e", "print('ran')").stdout == "init ran\nran\n")
    }

    @Test("others can change a store's files: the check tells")
    func store() throws {
        for part in ["", "/Documents"] { try set(0o755, program.container + part) }
        try set(0o666, program.archive)
        let check = try program("check", program.container)
        #expect(check.stdout.contains("chmod go-w \(program.archive)"), "\(check.stdout)")
    }

    @Test("a backup is the user's alone, and so is what is restored", arguments: ["copy", "copy.tar", "copy.tar.gz"])
    func backups(name: String) throws {
        try program.scratch.write("for all", to: "container/Documents/open")
        try program.scratch.write("to run", to: "container/Documents/runs")
        try set(0o666, "\(program.container)/Documents/open")
        try set(0o755, "\(program.container)/Documents/runs")
        let copy = program.scratch.file(name)
        #expect(try program("backup", copy).status == .exited(0))
        let own = try manager.attributesOfItem(atPath: copy)[.posixPermissions] as? Int
        #expect(own == (name == "copy" ? 0o700 : 0o600))
        let target = program.scratch.file("restored")
        #expect(try program("restore", "--container", target, copy).status == .exited(0))
        for folder in name == "copy" ? [copy, target] : [target] {
            let found = try permissions(of: folder)
            #expect(found.values.allSatisfy { $0 & 0o077 == 0 }, "\(found)")
            #expect(found["\(folder)/Documents/runs"] == 0o700)
        }
    }
}
