import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// Each folder and file of a container, with something else in its place: what the host would do there must not reach
/// what is elsewhere, nor wait for ever.
@Suite("Parts of a container")
struct ContainerPartsTests {
    enum Intruder: String, CaseIterable, Sendable {
        case linkToFolder, linkToFile, linkToNothing, linkInside, pipe, device, folder, file
    }

    static let folders = [
        "Documents", "Library", "Library/Application Support", "Library/Caches", "Library/Preferences",
        "Library/Scripts", "tmp", "Library/Caches/Thumbnails", "Library/Caches/Removed Images",
        "Library/Caches/Replaced Images",
    ]
    static let files = [
        ".lock", ".socket", "Documents/items.archive", "Documents/items.journal", "Library/Caches/items.index",
        "Library/Preferences/items.plist", "Library/Preferences/cubby.plist",
        "Library/Application Support/restoration.plist", "Library/Application Support/restoration.plist.restoring",
        "Library/Application Support/repl_history", "Library/Scripts/init.lua",
    ]

    let program: Program
    let manager = FileManager.default

    init() throws {
        program = try Program()
        _ = try program("-e", "items:createItem{ name = 'kept' } items:saveChanges() items[1].name = 'changed'")
        try program.scratch.write("theirs", to: "foreign/file")
        try program.scratch.write("theirs", to: "foreign/below/file")
        try program.scratch.write("print('foreign code ran')", to: "foreign.lua")
    }

    private func foreignFiles() throws -> [String] {
        try manager.subpathsOfDirectory(atPath: program.scratch.file("foreign")).sorted()
            + [String(decoding: program.scratch.read("foreign/file"), as: UTF8.self)]
            + [String(decoding: program.scratch.read("foreign.lua"), as: UTF8.self)]
    }

    /// Puts the intruder in a part's place; false when this machine does not let the test do it.
    private func put(_ intruder: Intruder, at path: String) throws -> Bool {
        let foreign = program.scratch.file("foreign")
        func link(_ target: String) throws -> Bool {
            try manager.createSymbolicLink(atPath: path, withDestinationPath: target)
            return true
        }
        switch intruder {
        case .linkToFolder: return try link(foreign)
        case .linkToFile: return try link(foreign + ".lua")
        case .linkToNothing: return try link(program.scratch.file("nowhere"))
        case .linkInside: return try link(program.container + "/kept")
        case .pipe: return mkfifo(path, 0o600) == 0
        // /dev/null's numbers: only root may make it.
        case .device: return mknod(path, S_IFCHR | 0o600, 0x103) == 0
        case .folder: try manager.createDirectory(atPath: path, withIntermediateDirectories: false)
        case .file: try Data("x".utf8).write(to: URL(fileURLWithPath: path))
        }
        return true
    }

    @Test("a launch refuses it, names it, and touches nothing elsewhere", arguments: Intruder.allCases)
    func launches(_ intruder: Intruder) throws {
        let before = try foreignFiles()
        let template = program.scratch.file("template")
        try manager.moveItem(atPath: program.container, toPath: template)
        for part in Self.folders + Self.files {
            if Self.folders.contains(part) ? intruder == .folder : intruder == .file && part != ".socket" { continue }
            try manager.copyItem(atPath: template, toPath: program.container)
            defer { try? manager.removeItem(atPath: program.container) }
            let path = "\(program.container)/\(part)"
            try? manager.removeItem(atPath: path)
            guard try put(intruder, at: path) else {
                #expect(intruder == .device, "\(part)")
                // Making a device needs root.
                return
            }
            let result = try program("-e", "print(#items)")
            let comment = Comment(rawValue: "\(part) as \(intruder): \(result.stderr)")
            #expect(result.stderr.contains(URL(fileURLWithPath: part).lastPathComponent), comment)
            if intruder.rawValue.hasPrefix("link") { #expect(result.stderr.contains("symbolic link to"), comment) }
            if part == "Library/Scripts/init.lua" {
                #expect(result.status == .exited(0), comment)
                #expect(result.stdout == "1\n", comment)
                #expect(result.stderr.contains("init.lua was skipped"), comment)
            } else {
                #expect(result.status == .exited(65), comment)
                #expect(result.stdout == "", comment)
            }
            #expect(try foreignFiles() == before, comment)
            #expect(!manager.fileExists(atPath: program.scratch.file("nowhere")), comment)
        }
    }

    @Test("other commands on such a container touch nothing elsewhere either", arguments: folders + [".lock"])
    func commands(part: String) throws {
        let before = try foreignFiles()
        let path = "\(program.container)/\(part)"
        try? manager.removeItem(atPath: path)
        #expect(try put(.linkToFolder, at: path))
        for command in [
            ["check", program.container], ["check", program.container, "--repair"],
            ["backup", program.scratch.file("copy")], ["gallery", program.scratch.file("page")],
            ["report", program.scratch.file("list.html")], ["--read-only", "-e", "print(1)"],
        ] {
            let result = try program(command)
            #expect(result.status == .exited(65), "\(part), \(command): \(result.stderr)")
            #expect(result.stderr.contains("symbolic link to"), "\(part), \(command): \(result.stderr)")
        }
        #expect(try program("doctor").status == .exited(0))
        #expect(try foreignFiles() == before)
    }

    @Test("the container itself may be a link")
    func root() throws {
        let link = program.scratch.file("link")
        try manager.createSymbolicLink(atPath: link, withDestinationPath: program.container)
        #expect(try program("--container", link, "-e", "print(#items)").stdout == "1\n")
        #expect(try program("--container", program.container, "-e", "print(#items)").stdout == "1\n")
    }

    @Test("a picture that is a link is not read, and replacing it leaves what it leads to")
    func pictures() throws {
        let before = try foreignFiles()
        try manager.createSymbolicLink(
            atPath: "\(program.container)/Documents/key", withDestinationPath: program.scratch.file("foreign/file"))
        let result = try program("-e", "print(select(2, images:image('key')))")
        #expect(result.stdout.contains("symbolic link to"), "\(result.stdout)\(result.stderr)")
        _ = try program("-e", "images:deleteImage('key')")
        #expect(try foreignFiles() == before)
    }
}
