import FileFormats
import TestSupport
import Testing

@Suite("Gzip") struct GzipReaderTests {
    /// Bytes as Python's gzip compresses them.
    private func compressed(_ script: String) throws -> [UInt8] {
        let output = try run("python3", ["-c", "import gzip, sys, random\nout = sys.stdout.buffer\n" + script])
        try #require(output.status == .exited(0), "\(output.stderr)")
        return output.standardOutput
    }

    private func content(
        _ bytes: [UInt8], piece: Int = 65536, limits: ExpansionLimits = ExpansionLimits(),
        isStopped: @escaping () -> Bool = { false }
    ) throws -> [UInt8] {
        var given = 0
        let reader = try GzipReader(limits: limits, isStopped: isStopped) { buffer in
            let count = min(buffer.count, bytes.count - given, piece)
            buffer.copyBytes(from: bytes[given..<given + count])
            given += count
            return count
        }
        var result: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = try buffer.withUnsafeMutableBytes { try reader.read(into: $0) }
            if count == 0 { break }
            result += buffer[..<count]
        }
        #expect(reader.expanded == result.count)
        return result
    }

    @Test("content comes back, in pieces of any size", arguments: [1, 7, 65536])
    func pieces(piece: Int) throws {
        let bytes = try compressed(
            "random.seed(1); out.write(gzip.compress(bytes(random.choices(b'abc,;\\n', k=200000))))")
        let whole = try content(bytes)
        #expect(whole.count == 200_000)
        #expect(try content(bytes, piece: piece) == whole)
    }

    @Test("members one after another, and zeros behind them, are one content")
    func members() throws {
        let bytes = try compressed(
            "out.write(gzip.compress(b'a,b\\n') + gzip.compress(b'') + gzip.compress(b'c,d\\n'))")
        for end in [[], [0, 0, 0]] as [[UInt8]] {
            #expect(try content(bytes + end) == Array("a,b\nc,d\n".utf8))
            #expect(try content(bytes + end, piece: 1) == Array("a,b\nc,d\n".utf8))
        }
    }

    @Test("a cut file says so at each length, and a damaged one, too")
    func damaged() throws {
        let bytes = try compressed("out.write(gzip.compress(b'name,price\\nLamp,12\\n'))")
        for count in 0..<bytes.count {
            let error = #expect(throws: FormatError.self) { try content(Array(bytes[..<count])) }
            #expect(error?.code == .corrupt)
        }
        var wrong = bytes
        wrong[bytes.count - 6] ^= 1
        #expect(throws: FormatError.self) { try content(wrong) }
        #expect(throws: FormatError.self) { try content(Array("name,price\n".utf8)) }
    }

    @Test("zeros are refused by their ratio, and large contents by their size")
    func bombs() throws {
        let zeros = try compressed("out.write(gzip.compress(bytes(100 << 20), 9))")
        var error = #expect(throws: FormatError.self) { try content(zeros) }
        #expect(error?.code == .tooLarge)
        #expect(error?.message.contains("more than 250 times its size") == true)
        error = #expect(throws: FormatError.self) {
            try content(zeros, limits: ExpansionLimits(bytes: 1 << 20, ratio: 2_000, free: 0))
        }
        #expect(error?.message.contains("1,048,576 bytes") == true)
    }

    @Test("an interruption ends the reading")
    func interruption() throws {
        let zeros = try compressed("out.write(gzip.compress(bytes(1 << 20)))")
        var steps = 0
        let error = #expect(throws: FormatError.self) {
            try content(zeros) {
                steps += 1
                return steps > 3
            }
        }
        #expect(error?.code == .stopped)
    }
}

@Suite("ZIP") struct ZipReaderTests {
    private func zip(_ script: String) throws -> [UInt8] {
        let output = try run(
            "python3",
            [
                "-c",
                "import io, sys, zipfile\nfile = io.BytesIO()\nz = zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED)\n\(script)\nz.close()\nsys.stdout.buffer.write(file.getvalue())",
            ])
        try #require(output.status == .exited(0), "\(output.stderr)")
        return output.standardOutput
    }

    @Test("members by name, in any order and as often as asked for")
    func members() throws {
        let bytes = try zip("z.writestr('a/One.txt', 'one'); z.writestr('b', 'two' * 100000); z.writestr('c', '')")
        let reader = try ZipReader(ByteSource(bytes))
        #expect(reader.members.map(\.name) == ["a/One.txt", "b", "c"])
        for _ in 0..<2 {
            #expect(try reader.open("b")?.contents(limit: 1 << 20).count == 300_000)
            #expect(try reader.open("A\\one.TXT")?.contents(limit: 10) == Array("one".utf8))
            #expect(try reader.open("c")?.contents(limit: 10) == [])
        }
        #expect(try reader.open("d") == nil)
        #expect(throws: FormatError.self) { try reader.open("b")?.contents(limit: 1000) }
    }

    @Test("a cut or changed file is an error, and never a wrong content")
    func damaged() throws {
        let bytes = try zip("z.writestr('a', 'abcdefgh' * 100)")
        let whole = try ZipReader(ByteSource(bytes)).open("a")?.contents(limit: 1 << 20)
        for count in stride(from: 0, to: bytes.count - 1, by: 7) {
            #expect(throws: (any Error).self) { try ZipReader(ByteSource(Array(bytes[..<count]))).open("a") }
        }
        for place in bytes.indices {
            var wrong = bytes
            wrong[place] ^= 0x10
            let content = try? ZipReader(ByteSource(wrong)).open("a")?.contents(limit: 1 << 20)
            #expect(content == nil || content == whole)
        }
    }

    @Test("a member of zeros is refused by its ratio")
    func bomb() throws {
        let bytes = try zip("z.writestr('a', bytes(100 << 20))")
        let error = #expect(throws: FormatError.self) {
            try ZipReader(ByteSource(bytes)).open("a")?.contents(limit: 1 << 30)
        }
        #expect(error?.code == .tooLarge)
    }

    @Test("errors of the source come through")
    func source() throws {
        let bytes = try zip("z.writestr('a', 'x')")
        #expect(throws: TestFailure.self) {
            try ZipReader(ByteSource(size: bytes.count) { _, _ in throw TestFailure("no disk") })
        }
    }
}
