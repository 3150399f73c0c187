import Application
import Cubby
import Files
import Glibc
import Items
import Lua
import TestSupport
import Testing

@testable import Scripting

/// Every way of writing to standard output, to a descriptor that fails after a random number of bytes: what arrives is
/// the beginning of the whole, what does not is counted, and nobody is told of a success.
@Suite("Writers account for every byte", .serialized)
struct WriterAccountingTests {
    /// Chunks that write, and return `true` when each step said that it had.
    static let writers: [String: String] = [
        "print": "for i = 1, 400 do print(i, pad) end return true",
        "io.write":
            "local ok = true for i = 1, 400 do ok = io.write(i, pad, '\\n') and ok end return (io.flush() and ok) ~= nil",
        "handle":
            "local ok = true for i = 1, 400 do ok = io.stdout:write(i, pad, '\\n') and ok end return (io.stdout:flush() and ok) ~= nil",
        "lines":
            "io.stdout:setvbuf('line') local ok = true for i = 1, 400 do ok = io.write(i, pad, '\\n') and ok end return ok ~= nil",
        "csv": "return (items:export('-', { format = 'csv' })) == #items",
        "tsv": "return (items:export('/dev/stdout', { format = 'tsv' })) == #items",
        "json": "return (items:query():export('-', { format = 'json' })) == #items",
        "jsonl": "return (items:export('-', { format = 'jsonl' })) == #items",
        "plist": "return (items:export('-', { format = 'plist' })) == #items",
        "archive": "return (items:export('-', { format = 'archive' })) == #items",
        "csv.write":
            "local rows = {} for i = 1, 400 do rows[i] = { n = i, text = pad } end return csv.write('-', rows) == true",
        "csv.write of a query": "return csv.write('-', items:query()) == true",
        "fs.write": "return fs.write('/dev/stdout', pad:rep(400)) == true",
        "plist.write":
            "local list = {} for i = 1, 400 do list[i] = pad .. i end return plist.write(list, '/dev/stdout') == true",
    ]

    private let folder: TemporaryDirectory
    private let host: ScriptHost

    init() throws {
        folder = try TemporaryDirectory()
        var options = ScriptHostOptions(container: ApplicationContainer(path: folder.file("container")))
        options.handlesSignals = false
        options.setPathFence(false)
        host = try ScriptHost(options)
        let made = host.run(
            Array(
                "pad = ('é\\t,\"x'):rep(9) for i = 1, 300 do items:createItem{ name = pad, serialNumber = 's' .. i } end"
                    .utf8),
            name: "=setup")
        guard case .success = made else { throw TestFailure("\(made)") }
    }

    /// Runs a chunk on a file that accepts so many bytes.
    private func write(_ source: String, limit: Int?) throws -> (
        bytes: [UInt8], isTold: Bool, loss: StandardStream.Loss?
    ) {
        let file = try LimitedFile(limit)
        let stream = StandardStream(file.descriptor, "standard output")
        host.output.output = stream
        defer { host.output.output = .output }
        let results = try host.run(Array(source.utf8), name: "=writer").get()
        host.output.flush()
        return (file.bytes, results.first == .boolean(true), stream.loss)
    }

    @Test("what arrives is a beginning, and the loss is said", arguments: writers.keys.sorted())
    func accounts(_ name: String) throws {
        let source = try #require(Self.writers[name])
        let whole = try write(source, limit: nil)
        #expect(whole.isTold && whole.loss == nil && whole.bytes.count > 10_000)
        var random = TestGenerator(seed: UInt64(name.utf8.count))
        for _ in 0..<max(4, Accounting.values / 1000) {
            let limit = random.number(whole.bytes.count * 5 / 4)
            let part = try write(source, limit: limit)
            if limit >= whole.bytes.count {
                #expect(part == whole)
                continue
            }
            let loss = try #require(part.loss)
            #expect(whole.bytes.starts(with: part.bytes) && part.bytes.count < whole.bytes.count)
            #expect(loss.written == part.bytes.count && loss.lost > 0)
            #expect(loss.written + loss.lost <= whole.bytes.count)
            // print goes on, as Lua's does; all others are told. What goes on is counted to the end.
            #expect(part.isTold == (name == "print"))
            if ["print", "io.write", "handle", "lines"].contains(name) {
                #expect(loss.written + loss.lost == whole.bytes.count)
            }
        }
    }

    @Test("the results are those of Lua's own functions")
    func results() throws {
        let file = try LimitedFile(0)
        host.output.output = StandardStream(file.descriptor, "standard output")
        defer { host.output.output = .output }
        for source in [
            "io.stdout:setvbuf('no') return io.write('x')", "io.stdout:setvbuf('no') return io.stdout:write('x')",
            "io.write('x') return io.flush()",
            "io.write('x') return io.stdout:flush()", "io.write('x') return io.stdout:setvbuf('full')",
        ] {
            let results = try host.run(Array(source.utf8), name: "=chunk").get()
            #expect(results == [.nil, .text("Operation not permitted"), .integer(1)], "\(source)")
            host.output.output = StandardStream(file.descriptor, "standard output")
        }
        let failed = try host.run(
            Array(
                "local count, err = items:export('-', { format = 'csv' }) return count, tostring(err), err.code".utf8),
            name: "=chunk"
        ).get()
        #expect(
            failed == [.nil, .text("cannot write standard output: Operation not permitted"), .integer(1)],
            "\(failed)")
        let full = try host.run(Array("return io.stdout:close()".utf8), name: "=chunk").get()
        #expect(full.first == .nil)
    }

    /// A file of a script on a full disk, as the global `file`.
    private func openFile() throws -> LimitedFile {
        let full = try LimitedFile(0)
        host.state.globals["file"] = host.state.makeFile(dup(full.descriptor), mode: "w", path: "full.txt") ?? .nil
        return full
    }

    @Test(
        "a file that the script leaves open is flushed, and its failure is counted",
        arguments: [
            "file:write('x')", "file:write('x') file = nil collectgarbage()",
            "do local f <close> = file f:write('x') end", "file:setvbuf('no') file:write('x')",
        ])
    func unclosed(_ source: String) throws {
        let file = try openFile()
        let run = host.run(Array(source.utf8), name: "=chunk")
        guard case .success = run else { throw TestFailure("\(run)") }
        host.state.flushFiles(isLast: true)
        let lost = try #require(host.state.lostFiles)
        #expect(lost.count == 1 && lost.path == "full.txt" && lost.code == EPERM)
        #expect(file.bytes.isEmpty)
    }

    @Test(
        "a file that the script closes tells the script, also of a flush by the host",
        arguments: ["", "timer.sleep(0)", "file:flush() file:write('y')"])
    func closed(_ source: String) throws {
        let file = try openFile()
        let results = try host.run(
            Array("file:write('x') \(source) return file:close()".utf8), name: "=chunk"
        ).get()
        #expect(results == [.nil, .text("Operation not permitted"), .integer(1)])
        host.state.flushFiles(isLast: true)
        #expect(host.state.lostFiles == nil && file.bytes.isEmpty)
    }
}
