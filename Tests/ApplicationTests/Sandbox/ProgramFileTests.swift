import Files
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Application

@Suite("Programs that are started by their open file")
struct ProgramFileTests {
    let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    /// Runs a program with its output in a file.
    private func output(of words: [String], _ program: ProgramFile, closing folder: ClosedFolder? = nil) throws
        -> String
    {
        let file = open(scratch.file("output"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(file) }
        let child = try ChildProcess(words, program: program, closing: folder, output: file)
        _ = child.end()
        return try String(decoding: scratch.read("output"), as: UTF8.self)
    }

    @Test func whatWasReadIsStartedThoughAnotherFileTookItsPlace() throws {
        let path = try scratch.writeProgram("#!/bin/sh\necho \"first $1\"\n", to: "tool")
        let program = try ProgramFile(path)
        let digest = try PosixFileLayer().digest(of: path).hexadecimal
        #expect(program.isScript && program.digest == digest)
        try scratch.writeProgram("#!/bin/sh\necho second\n", to: "other")
        #expect(rename(scratch.file("other"), path) == 0)
        #expect(try output(of: ["tool", "a b"], program) == "first a b\n")
        #expect(try ProgramFile(path).digest != program.digest)
    }

    @Test func aBinaryKeepsTheNameThatItWasCalledBy() throws {
        let program = try ProgramFile(RealPath.of("/bin/sh"))
        #expect(!program.isScript)
        #expect(try output(of: ["renamed", "-c", "echo $0"], program) == "renamed\n")
    }

    @Test func aKnownStampIsNotReadAgainAndAChangedOneIs() throws {
        let path = try scratch.writeProgram("#!/bin/sh\n", to: "tool")
        let program = try ProgramFile(path)
        #expect(try ProgramFile(path, known: [program.stamp: "known"]).digest == "known")
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("true\n".utf8))
        #expect(try ProgramFile(path, known: [program.stamp: "known"]).digest != "known")
        // Written a moment ago: a second change in the same tick would have the same times.
        let (fresh, old) = (try ProgramFile(path), try ProgramFile(RealPath.of("/bin/sh")))
        #expect(!fresh.isSettled && old.isSettled)
    }

    @Test("is a regular file, reached without a link", arguments: ["link", "pipe", "folder", "absent"])
    func refused(what: String) throws {
        let path = scratch.file("tool")
        switch what {
        case "link": symlink("/bin/true", path)
        case "pipe": mkfifo(path, 0o700)
        case "folder": mkdir(path, 0o700)
        default: break
        }
        #expect(throws: FileError.self) { try ProgramFile(path) }
    }

    @Test func aGrantIsOfAProgramThatOnlyTheUserChanges() throws {
        let grant = try ProgramGrant("sh")
        #expect(grant.name == "sh" && grant.path.hasPrefix("/") && grant.digest.count == 64)
        #expect(throws: FileError.self) { try ProgramGrant("no-such-program-anywhere") }
        let path = try scratch.writeProgram("#!/bin/sh\n", to: "tool")
        #expect(try ProgramGrant(path).name == "tool")
        chmod(path, 0o777)
        #expect(throws: FileError.self) { try ProgramGrant(path) }
        chmod(path, 0o600)
        // Root may read everything, and run nothing without a bit for it.
        #expect(throws: FileError.self) { try ProgramGrant(path) }
    }

    @Test(
        "cannot change a closed folder, nor put another in its place; all else as before",
        .enabled(if: Landlock.abi != nil, "needs a kernel with Landlock"))
    func closedFolder() throws {
        try scratch.write("secret", to: "home/.config/cubby/file")
        try scratch.write("x", to: "home/papers/file")
        symlink(".config/cubby", scratch.file("home/way"))
        let home = try RealPath.of(scratch.file("home"))
        let script = """
            cd '\(home)' 2>/dev/null
            for attempt in 'echo x > .config/cubby/file' 'echo x >> way/file' 'echo x > .config/cubby/new' \
                'rm .config/cubby/file' 'mv .config/cubby/file papers/stolen' 'mv .config/cubby .config/other' \
                'mv .config away' 'mkdir .config/fresh' 'ln .config/cubby/file papers/hard' 'chmod 600 .config/none'; do
                (eval "$attempt") 2>/dev/null && echo "DONE $attempt"
            done
            cat .config/cubby/file && echo "" && mv papers/file papers/moved && mkdir papers/new && echo x > papers/new/y && ls papers
            """
        let program = try ProgramFile(RealPath.of("/bin/sh"))
        let text = try output(of: ["sh", "-c", script], program, closing: ClosedFolder(home + "/.config/cubby"))
        #expect(text == "secret\nmoved\nnew\n")
        // The process itself is as free as before.
        try scratch.write("changed", to: "home/.config/cubby/file")
    }

    @Test(
        "within a fence that leaves the home folder, all else is left as the fence leaves it",
        .enabled(if: Landlock.abi != nil, "needs a kernel with Landlock"))
    func fenced() throws {
        try scratch.write("secret", to: "home/.config/cubby/file")
        try scratch.write("x", to: "home/papers/file")
        try scratch.write("x", to: "other/file")
        let top = try RealPath.of(scratch.path)
        let closed = ClosedFolder("\(top)/home/.config/cubby", within: ["\(top)/home", "\(top)/other", "/dev/null"])
        let script =
            "cd '\(top)'; for file in home/.config/cubby/file home/papers/file other/file third; do"
            + " (echo y > $file) 2>/dev/null && echo $file; done"
        let program = try ProgramFile(RealPath.of("/bin/sh"))
        #expect(try output(of: ["sh", "-c", script], program, closing: closed) == "home/papers/file\nother/file\n")
        #expect(ClosedFolder("/home/u/.config/cubby", within: ["/srv", "/home/u/.config/cubby-notes"]) == nil)
    }

    @Test(
        "a closed folder that is not there yet is not made",
        .enabled(if: Landlock.abi != nil, "needs a kernel with Landlock"))
    func absentFolder() throws {
        try scratch.write("x", to: "home/papers/file")
        let home = try RealPath.of(scratch.file("home"))
        let program = try ProgramFile(RealPath.of("/bin/sh"))
        let script = "mkdir -p '\(home)/.config/cubby' 2>/dev/null; echo y > '\(home)/papers/file'; ls -A '\(home)'"
        #expect(
            try output(of: ["sh", "-c", script], program, closing: ClosedFolder(home + "/.config/cubby")) == "papers\n")
    }
}
