import Files
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Application

@Suite("A container's configuration file")
struct ConfigurationFileTests {
    let scratch: TemporaryDirectory
    let container: ApplicationContainer

    init() throws {
        scratch = try TemporaryDirectory()
        container = ApplicationContainer(path: scratch.file("box"))
        try container.create()
        try scratch.write("x", to: "inbox/file")
    }

    func file() throws -> ConfigurationFile { try ConfigurationFile(for: container, in: scratch.file("config/cubby")) }

    /// A file with a setting and grants of each kind.
    private func configured() throws -> ConfigurationFile {
        let file = try file()
        let inbox = try Grant(.read, of: scratch.file("inbox"))
        let program = Grant(try ProgramGrant("/bin/true"))
        try file.update {
            $0.settings["time-limit"] = "60"
            $0.add(inbox)
            $0.add(program)
        }
        return file
    }

    @Test func whatWasWrittenIsReadAndApproved() throws {
        let file = try configured()
        let read = try #require(try file.read())
        #expect(read.settings == ["time-limit": "60"])
        #expect(read.grants.map(\.kind) == [.read, .run])
        #expect(read.grants.allSatisfy { $0.state == .asApproved })
        #expect(read.unapproved(for: file.identity).isEmpty)
        let layer = PosixFileLayer()
        #expect(try layer.status(file.path)?.permissions == 0o600)
        #expect(try layer.status(scratch.file("config/cubby"))?.permissions == 0o700)
    }

    @Test func withoutAFileThereIsNoConfiguration() throws { #expect(try file().read() == nil) }

    @Test func aSecondGrantOfTheSameReplacesTheFirst() throws {
        let file = try configured()
        let inbox = try Grant(.read, of: scratch.file("inbox"))
        try file.update { $0.add(inbox) }
        #expect(try file.read()?.grants.count == 2)
        let revoked = try file.update { $0.revoke { $0.kind == .read } }
        #expect(revoked.count == 1)
        #expect(try file.read()?.grants.map(\.name) == ["true"])
    }

    @Test(
        "An edit is noticed, named, and not approved along with another change",
        arguments: [
            ("<string>60</string>", "<string>600</string>", "time-limit 600"),
            ("<string>read</string>", "<string>write</string>", "write "),
            ("/inbox</string>", "</string>", "read "),
            ("<string>true</string>", "<string>false</string>", "run false"),
            ("<key>time-limit</key>\n\t\t<string>60</string>\n", "", "no settings"),
        ])
    func edits(old: String, new: String, part: String) throws {
        let file = try configured()
        let text = try String(contentsOfFile: file.path, encoding: .utf8)
        let edited = text.replacing(old, with: new)
        try #require(edited != text, "\(text)")
        // In place: the permissions stay.
        let handle = try #require(FileHandle(forWritingAtPath: file.path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(edited.utf8))
        let changed = try #require(try file.read()).unapproved(for: file.identity)
        #expect(changed.count == 1 && changed[0].hasPrefix(part), "\(changed)")
        #expect(throws: ConfigurationError.changed(path: file.path, parts: changed)) { try file.update { _ in } }
        try file.update(approvesAll: true) { _ in }
        #expect(try file.read()?.unapproved(for: file.identity) == [])
    }

    @Test func anotherFolderAtTheContainersPathIsAnotherContainer() throws {
        _ = try configured()
        #expect(rename(container.path, container.path + ".old") == 0)
        #expect(try file().read()?.unapproved(for: file().identity).count == 3)
        try container.create()
        #expect(try file().read()?.unapproved(for: file().identity).count == 3)
        FolderRemover.remove(container.path, using: PosixFileLayer())
        #expect(rename(container.path + ".old", container.path) == 0)
        #expect(try file().read()?.unapproved(for: file().identity) == [])
    }

    @Test(
        "Hostile contents are refused",
        arguments: [
            "", "x", "<plist><string>a</string></plist>", "<plist><dict/></plist>",
            "<plist><dict><key>settings</key><array/><key>settings approval</key><string/><key>grants</key><array/></dict></plist>",
            "<plist><dict><key>settings</key><dict><key>time-limit</key><integer>1</integer></dict><key>settings approval</key><string/><key>grants</key><array/></dict></plist>",
            "<plist><dict><key>settings</key><dict/><key>settings approval</key><string/><key>grants</key><array><dict><key>grant</key><string>all</string></dict></array></dict></plist>",
            "<plist>" + String(repeating: "<array>", count: 100) + String(repeating: "</array>", count: 100)
                + "</plist>",
            "<plist><string>" + String(repeating: "x", count: 1 << 20) + "</string></plist>",
        ])
    func hostile(text: String) throws {
        let file = try configured()
        try Data(text.utf8).write(to: URL(fileURLWithPath: file.path))
        chmod(file.path, 0o600)
        #expect(throws: ConfigurationError.self) { try file.read() }
        #expect(throws: ConfigurationError.self) { try file.update(approvesAll: true) { _ in } }
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == text)
    }

    @Test("What others could have written is refused", arguments: ["file", "folder", "hard link", "link", "pipe"])
    func exposed(what: String) throws {
        let file = try configured()
        switch what {
        case "file": chmod(file.path, 0o606)
        case "folder": chmod(scratch.file("config/cubby"), 0o777)
        case "hard link": #expect(Glibc.link(file.path, scratch.file("second")) == 0)
        case "link":
            #expect(rename(file.path, scratch.file("moved")) == 0 && symlink(scratch.file("moved"), file.path) == 0)
        default: #expect(unlink(file.path) == 0 && mkfifo(file.path, 0o600) == 0)
        }
        #expect(throws: ConfigurationError.self) { try file.read() }
        #expect(throws: ConfigurationError.self) { try file.update { _ in } }
    }

    @Test func theFolderIsNoPartOfTheContainer() throws {
        let folder = container.path + "/config/cubby"
        #expect(throws: ConfigurationError.inContainer(path: folder)) {
            try ConfigurationFile(for: container, in: folder)
        }
    }

    @Test func changesOfTwoAtOnceAreBothKept() throws {
        for index in 0..<20 { try scratch.write("x", to: "many/\(index)") }
        let (container, folder, many) = (container, scratch.file("config/cubby"), scratch.file("many"))
        let threads = (0..<4).map { part in
            WorkerThread { () -> Bool in
                do {
                    let file = try ConfigurationFile(for: container, in: folder)
                    for index in part * 5..<part * 5 + 5 {
                        let grant = try Grant(.read, of: "\(many)/\(index)")
                        try file.update { $0.add(grant) }
                    }
                    return true
                } catch { return false }
            }
        }
        #expect(threads.allSatisfy { $0.join() == true })
        #expect(try file().read()?.grants.count == 20)
    }

    @Test(
        "The folder is that of the XDG specification",
        arguments: [("/x/y", "/x/y/cubby"), ("relative", nil), ("", nil)])
    func folder(variable: String, expected: String?) {
        let home = HomeFolder.path.map { RealPath.ofExistingPart(of: $0 + "/.config/cubby") }
        #expect(ConfigurationFolder.locate { $0 == "XDG_CONFIG_HOME" ? variable : nil } == expected ?? home)
    }
}
