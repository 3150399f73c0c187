import Files
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Application

@Suite("Landlock")
struct LandlockTests {
    let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
        for folder in ["box", "bundle", "outside"] {
            try PosixFileLayer().makeDirectories(scratch.file(folder))
            try AtomicFile.write([1, 2, 3], to: scratch.file(folder + "/file"), durable: false)
        }
    }

    /// What became of each attempt: "" when it was allowed, else the error.
    func attempts(_ rules: LandlockRules) -> [String: String] {
        let outcomes = Mutex<[String: String]>([:])
        let path = scratch.path
        OwnThread.run {
            let layer = PosixFileLayer()
            func attempt(_ name: String, _ body: () throws -> Void) {
                var text = ""
                do { try body() } catch let error as FileError { text = "\(error.code)" } catch { text = "\(error)" }
                outcomes.withLock { $0[name] = text }
            }
            attempt("restrict") { _ = try Landlock.restrictThread(rules) }
            for folder in ["box", "bundle", "outside"] {
                let file = path + "/" + folder + "/file"
                attempt("read " + folder) { _ = try layer.contents(of: file) }
                attempt("list " + folder) { _ = try layer.list(path + "/" + folder) }
                attempt("write " + folder) { try AtomicFile.write([4], to: file) }
                attempt("append " + folder) { layer.close(try layer.open(file, .append)) }
                attempt("remove " + folder) { try layer.remove(file) }
            }
            attempt("passwd") { _ = try layer.contents(of: "/etc/passwd") }
        }
        return outcomes.withLock { $0 }
    }

    @Test(.enabled(if: Landlock.abi != nil, "needs a kernel with Landlock"))
    func fencesTheProcessIn() {
        let rules = LandlockRules(readWrite: [scratch.file("box")], readOnly: [scratch.file("bundle")])
        let outcomes = attempts(rules)
        let denied = "\(EACCES)"
        #expect(outcomes["restrict"] == "")
        for verb in ["read", "list", "write", "append", "remove"] { #expect(outcomes[verb + " box"] == "", "\(verb)") }
        for verb in ["read", "list"] { #expect(outcomes[verb + " bundle"] == "", "\(verb)") }
        for verb in ["write", "append", "remove"] { #expect(outcomes[verb + " bundle"] == denied, "\(verb)") }
        for verb in ["read", "list", "write", "append", "remove"] {
            #expect(outcomes[verb + " outside"] == denied, "\(verb)")
        }
        #expect(outcomes["passwd"] == denied)
    }

    @Test(.enabled(if: Landlock.abi != nil, "needs a kernel with Landlock"))
    func oneFileIsOneFile() {
        let outcomes = attempts(LandlockRules(readOnly: [scratch.file("outside/file")]))
        #expect(outcomes["read outside"] == "")
        #expect(outcomes["list outside"] == "\(EACCES)")
        #expect(outcomes["write outside"] == "\(EACCES)")
    }

    @Test(.enabled(if: Landlock.abi != nil, "needs a kernel with Landlock"))
    func whatTheHostNeedsIsThereOrPassedOver() {
        var rules = LandlockRules.host
        rules.add(LandlockRules(readWrite: ["/absent/for/sure"], optional: ["/absent/for/sure"]))
        #expect(attempts(rules)["restrict"] == "")
    }

    @Test(.enabled(if: Landlock.abi != nil, "needs a kernel with Landlock"))
    func refusesBeforeItRestricts() {
        let missing = scratch.file("absent")
        #expect(throws: LandlockError.path(FileError(.open, missing, code: ENOENT))) {
            try Landlock.restrictThread(LandlockRules(readWrite: [missing]))
        }
        // This test program has more than one thread.
        let error = #expect(throws: LandlockError.self) {
            try Landlock.restrict(readWrite: [scratch.path], readOnly: [])
        }
        guard case .threads(let count) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(count > 1)
    }
}
