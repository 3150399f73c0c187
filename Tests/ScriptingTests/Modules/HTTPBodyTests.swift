import Foundation
import Glibc
import Lua
import Scripting
import TestSupport
import Testing

/// What arrives of an answer, whole or in part: compressed bodies, and headers of unusual forms.
@Suite("Answers of HTTP as they arrive")
struct HTTPBodyTests {
    let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    /// The squares of 0 to 39, a line each.
    private static let text = (0..<40).map { "line \($0 * $0)\n" }.joined()
    /// The text as gzip, as deflate with zlib's header, and without.
    private static let compressed = [
        "gzip":
            "H4sIAAAAAAACAz2QQQ4DIQwD733FPoGEJMCD9lBp1f8f2woPJwvjDDHP+3Nf7fX8xbbEliWztnpu7TqH7kvxqWlr0BwnAhTMBRSqJ85UpnvwIHtBjsCZyqRrKoc4BblwBpnB1ISzIK86LXjeGhuZsaSdvc2pYv20i1M4f3/wBY/yaXBiAQAA",
        "zlib":
            "eJw9kEEOAyEMA+99xT6BhCTAg/ZQadX/H9sKDycL4wwxz/tzX+31/MW2xJYls7Z6bu06h+5L8alpa9AcJwIUzAUUqifOVKZ78CB7QY7AmcqkayqHOAW5cAaZwdSEsyCvOi143hobmbGknb3NqWL9tItTOH9/8AXMUl/1",
        "raw":
            "PZBBDgMhDAPvfcU+gYQkwIP2UGnV/x/bCg8nC+MMMc/7c1/t9fzFtsSWJbO2em7tOofuS/GpaWvQHCcCFMwFFKonzlSme/Age0GOwJnKpGsqhzgFuXAGmcHUhLMgrzoteN4aG5mxpJ29zali/bSLUzh/f/AF",
    ].mapValues { [UInt8](Data(base64Encoded: $0) ?? Data()) }

    private static func send(_ body: [UInt8], _ headers: String, to client: Int32) {
        LoopbackServer.write("HTTP/1.1 \(headers)\r\nContent-Length: \(body.count)\r\n\r\n", to: client)
        _ = body.withUnsafeBytes { Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    private func embedding(_ server: LoopbackServer) throws -> Embedding {
        let embedding = try Embedding(scratch.file("container")) { $0.connectable = ["127.0.0.1:\(server.port)"] }
        embedding.host.state.globals["A"] = .text(server.address)
        return embedding
    }

    @Test("a compressed body is whole, or the answer is an error, wherever it is cut") func cut() throws {
        // The path: /form/number of bytes.
        let server = try LoopbackServer { request, client in
            let parts = request.line.split(separator: " ")[1].split(separator: "/")
            let form = String(parts[0])
            let one = Self.compressed[form] ?? Self.compressed["gzip", default: []]
            let bytes = form == "two" ? one + one : one
            let name = form == "zlib" || form == "raw" ? "deflate" : "GZip"
            Self.send(Array(bytes.prefix(Int(parts[1]) ?? 0)), "200 OK\r\nContent-Encoding: \(name)", to: client)
        }
        defer { server.stop() }
        let embedding = try embedding(server)
        defer { embedding.end() }
        embedding.host.state.globals["T"] = .text(Self.text)
        for (form, bytes) in Self.compressed {
            let get = "local r, err, code = http.get(A .. '/\(form)/' .. n)"
            let whole = embedding.run("local n = \(bytes.count) \(get) return r and r.body == T, err")
            #expect(whole == "true nil", "\(form)")
            let cuts = embedding.run(
                "for n = 1, \(bytes.count - 1), 7 do \(get) if r or code ~= -1005 or not err.message:find('ends early') then return n, r, err end end return 'none'"
            )
            #expect(cuts == "none", "\(form): \(cuts)")
        }
        let count = Self.compressed["gzip", default: []].count
        let two = "local r, err, code = http.get(A .. '/two/' .. n)"
        #expect(embedding.run("local n = \(2 * count) \(two) return r and r.body == T .. T, err") == "true nil")
        #expect(embedding.run("local n = \(2 * count - 1) \(two) return r, code") == "nil -1005")
        #expect(embedding.run("local n = \(count + 1) \(two) return r, code") == "nil -1005")
        let limit = "{ maxSize = \(Self.text.utf8.count - 1) }"
        #expect(embedding.run("local r, err, code = http.get(A .. '/gzip/\(count)', \(limit)) return code") == "-1103")
        #expect(embedding.run("return #http.get(A .. '/gzip/0').body") == "0")
        #expect(server.requests.first?.headers["accept-encoding"] == "gzip, deflate")
        // As the server has it: a file, and a range.
        let file = "app.container.documents .. '/file'"
        #expect(embedding.run("assert(http.get(A .. '/gzip/50', { to = \(file) })) return #fs.read(\(file))") == "50")
        #expect(
            embedding.run("return #http.get(A .. '/gzip/50', { headers = { Range = 'bytes=0-49' } }).body") == "50")
    }

    @Test("a body that is not what its header says is an error") func damaged() throws {
        let gzip = Self.compressed["gzip", default: []]
        let server = try LoopbackServer { request, client in
            switch request.line.split(separator: " ")[1] {
            case "/garbage": Self.send(Array("garbage".utf8), "200 OK\r\nContent-Encoding: gzip", to: client)
            case "/behind": Self.send(gzip + [1, 2, 3], "200 OK\r\nContent-Encoding: gzip", to: client)
            case "/zeros":
                let filled = gzip + [UInt8](repeating: 0, count: 1 << 17)
                Self.send(filled, "200 OK\r\nContent-Encoding: gzip", to: client)
            case "/behindZeros": Self.send(gzip + [0, 1, 2, 3], "200 OK\r\nContent-Encoding: gzip", to: client)
            case "/br": Self.send(Array("garbage".utf8), "200 OK\r\nContent-Encoding: br", to: client)
            case "/both": Self.send(gzip, "200 OK\r\nContent-Encoding: gzip, br", to: client)
            default: Self.send(Array("plain".utf8), "200 OK\r\nContent-Encoding: identity", to: client)
            }
        }
        defer { server.stop() }
        let embedding = try embedding(server)
        defer { embedding.end() }
        for (path, reason) in [
            ("garbage", "damaged"), ("behind", "damaged"), ("behindZeros", "damaged"), ("br", "is compressed as br"),
            ("both", "compressed as gzip, br"),
        ] {
            let result = embedding.run("local r, err, code = http.get(A .. '/\(path)') return r, code, err.message")
            #expect(result.hasPrefix("nil -1011 ") && result.contains(reason), "\(path): \(result)")
        }
        #expect(embedding.run("return http.get(A .. '/plain').body") == "plain")
        // Zeros that fill up a block.
        #expect(embedding.run("return http.get(A .. '/zeros').status") == "200")
        // What a script asks for itself is its affair.
        let asked = "{ headers = { ['Accept-Encoding'] = 'br' } }"
        #expect(embedding.run("return http.get(A .. '/br', \(asked)).body") == "garbage")
    }

    @Test("headers of several lines, empty ones, and long ones") func headers() throws {
        let server = try LoopbackServer { request, client in
            switch request.line.split(separator: " ")[1] {
            case "/folded":
                LoopbackServer.send("", headers: ["X-F: one", " two", "\t three", "X-G:", " four"], to: client)
            case "/empty": LoopbackServer.send("body", status: "302 Found", headers: ["Location:"], to: client)
            case "/long":
                LoopbackServer.send("", headers: ["X: " + String(repeating: "x", count: 200_000)], to: client)
            default:
                let line = "X: " + String(repeating: "x", count: 50_000)
                LoopbackServer.send("", headers: Array(repeating: line, count: 30), to: client)
            }
        }
        defer { server.stop() }
        let embedding = try embedding(server)
        defer { embedding.end() }
        let folded = embedding.run("local h = http.get(A .. '/folded').headers return h['x-f'], h['x-g']")
        #expect(folded == "one two three four")
        #expect(embedding.run("local r = http.get(A .. '/empty') return r.status, r.body") == "302 body")
        for path in ["/long", "/many"] {
            let result = embedding.run("local r, err, code = http.get(A .. '\(path)') return r, code, err.message")
            #expect(result.hasPrefix("nil -1011 the header of the answer of 127.0.0.1:"), "\(path): \(result)")
        }
    }

    @Test("the file of an answer is a path, not a folder") func destinations() throws {
        let server = try LoopbackServer { _, client in LoopbackServer.send("bytes", to: client) }
        defer { server.stop() }
        let embedding = try embedding(server)
        defer { embedding.end() }
        let empty = embedding.run("return select(2, http.get(A, { to = '' })).message")
        #expect(empty.hasSuffix("\"\": the path is empty"), "\(empty)")
        let folder = embedding.run("return select(2, http.get(A, { to = app.container.tmp })).message")
        #expect(folder.hasSuffix(": Is a directory"), "\(folder)")
    }
}
