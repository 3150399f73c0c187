import Application
import Foundation
import Glibc
import Lua
import Scripting
import Synchronization
import TestSupport
import Testing

/// `http`, against servers on the loopback interface.
@Suite("HTTP")
struct HTTPModuleTests {
    let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    /// A host that may connect to some servers; the scripts have their addresses as `A` and `B`.
    private func embedding(
        _ servers: LoopbackServer..., granted: [String]? = nil, container: String = "container"
    ) throws -> Embedding {
        let embedding = try Embedding(scratch.file(container)) {
            $0.connectable = granted ?? servers.map { "127.0.0.1:\($0.port)" }
        }
        for (name, server) in zip(["A", "B"], servers) { embedding.host.state.globals[name] = .text(server.address) }
        return embedding
    }

    @Test("a request has its method, its header and its body, and the answer its own") func plain() throws {
        let server = try LoopbackServer { request, client in
            LoopbackServer.send(
                "{\"line\": \"\(request.line)\", \"n\": 1.5}", status: "201 Created",
                headers: ["X-Kind: first", "x-kind: second", "Content-Type: application/json"], to: client)
        }
        defer { server.stop() }
        let embedding = try embedding(server)
        defer { embedding.end() }
        let result = embedding.run(
            """
            local r = assert(http.post(A .. "/path?q=1", { headers = { ["X-Own"] = "yes" }, json = { b = 1, a = { 2 } } }))
            local v = r:json()
            return r.status, r.headers["content-TYPE"], r.headers["x-kind"], v.line, v.n, r.headers.absent, #r.body > 5
            """)
        #expect(result == "201 application/json first, second POST /path?q=1 HTTP/1.1 1.5 nil true")
        let request = try #require(server.requests.first)
        #expect(request.headers["x-own"] == "yes" && request.headers["content-type"] == "application/json")
        #expect(request.headers["user-agent"]?.hasPrefix("cubby/") == true)
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"a":[2],"b":1}"#)
        #expect(embedding.run("local r = http.put(A, { body = 'a\\0b' }) return r.status") == "201")
        #expect(embedding.run("local r = http.delete(A) return r.status") == "201")
        #expect(
            embedding.run("local r = http.post(A, { form = { b = { 1, true }, a = 'x &=ü' } }) return r.status")
                == "201")
        try scratch.write("of a file", to: "container/Documents/upload")
        #expect(
            embedding.run("local r = http.put(A, { file = app.container.documents .. '/upload' }) return r.status")
                == "201")
        #expect(embedding.run("local r = http.get(A) return tostring(r)").hasPrefix("Response(201, "))
        #expect(
            server.requests.map { $0.line.prefix { $0 != " " } } == ["POST", "PUT", "DELETE", "POST", "PUT", "GET"])
        #expect(
            server.requests.map { String(decoding: $0.body, as: UTF8.self) }
                == [#"{"a":[2],"b":1}"#, "a\0b", "", "a=x+%26%3D%C3%BC&b=1&b=true", "of a file", ""])
    }

    @Test("what is not granted is refused before anything is connected to, and the error names the grant") func grants()
        throws
    {
        let server = try LoopbackServer { _, client in LoopbackServer.send("in", to: client) }
        defer { server.stop() }
        let embedding = try embedding(server, granted: ["example.org", "127.0.0.1:1"])
        defer { embedding.end() }
        let result = embedding.run("local r, err, code = http.get(A) return r, err.message, code, err.domain")
        #expect(result.contains("--allow-net 127.0.0.1:\(server.port) grants it"), "\(result)")
        #expect(result.contains("cubby config grant net 127.0.0.1:\(server.port)"), "\(result)")
        #expect(result.hasSuffix("13 NSPOSIXErrorDomain"), "\(result)")
        // Other spellings of the same machine are other hosts.
        for host in ["localhost", "127.1", "0x7f000001", "2130706433", "[::ffff:127.0.0.1]", "[::1]", "user@127.0.0.1"]
        {
            let result = embedding.run("return http.get('http://\(host):\(server.port)/')")
            #expect(result.contains("grants it"), "\(host): \(result)")
        }
        for (url, reason) in [
            ("file:///etc/passwd", "only https and http"), ("gopher://127.0.0.1", "only https and http"),
            ("nonsense", "not a URL"),
            ("http://127.0.0.1:1 /", "no spaces"), ("http://", "not a URL"), ("http://[fe80::1%25eth0]/", "zone"),
            ("http://b\u{fc}cher.invalid/", "xn--"),
        ] {
            let result = embedding.run("return http.get('\(url)')")
            #expect(result.hasPrefix("nil ") && result.contains(reason), "\(url): \(result)")
        }
        #expect(server.requests.isEmpty)
    }

    @Test("a user who is there is asked, and a yes holds; no question is asked for a redirect") func consent() throws {
        let target = try LoopbackServer { _, client in LoopbackServer.send("there", to: client) }
        defer { target.stop() }
        let location = "Location: \(target.address)/"
        let server = try LoopbackServer { request, client in
            LoopbackServer.send(
                "in", status: request.line.contains("/away") ? "302 Found" : "200 OK", headers: [location], to: client)
        }
        defer { server.stop() }
        let embedding = try Embedding(scratch.file("container")) { $0.isInteractive = true }
        defer { embedding.end() }
        let call = "local r, err = http.get('\(server.address)/') return r and r.body, err"
        #expect(embedding.run(call).contains("--allow-net 127.0.0.1:\(server.port) grants it"))
        embedding.recorder.allowsConnections = true
        #expect(embedding.run(call) == "in nil")
        #expect(embedding.run(call) == "in nil")
        #expect(embedding.run("return http.get('\(server.address)/away')").contains("redirects: connecting to"))
        let question = "connect 127.0.0.1:\(server.port)"
        #expect(embedding.recorder.questions == [question, question])
        #expect(target.requests.isEmpty)
    }

    @Test("localhost is this machine, where it is granted") func localhost() throws {
        let server = try LoopbackServer { _, client in LoopbackServer.send("in", to: client) }
        defer { server.stop() }
        let embedding = try embedding(server, granted: ["localhost:\(server.port)"])
        defer { embedding.end() }
        #expect(embedding.run("local r = assert(http.get('http://localhost:\(server.port)/')) return r.body") == "in")
    }

    @Test("a redirect is followed to what is granted, without what was meant for the first server") func redirects()
        throws
    {
        let target = try LoopbackServer { _, client in LoopbackServer.send("there", to: client) }
        defer { target.stop() }
        let to = target.address
        let server = try LoopbackServer { request, client in
            switch request.line.split(separator: " ")[1] {
            case "/loop": LoopbackServer.send("", status: "302 Found", headers: ["Location: /loop"], to: client)
            case "/same":
                LoopbackServer.send("", status: "307 Temporary Redirect", headers: ["Location: end"], to: client)
            case "/end": LoopbackServer.send("end", to: client)
            case "/file":
                LoopbackServer.send("", status: "302 Found", headers: ["Location: file:///etc/passwd"], to: client)
            default: LoopbackServer.send("", status: "302 Found", headers: ["Location: \(to)/there"], to: client)
            }
        }
        defer { server.stop() }
        let open = try embedding(server, target)
        #expect(
            open.run(
                "local r = assert(http.post(A, { body = 'x', headers = { Authorization = 'secret', Kind = 'x' } })) return r.body, r.url"
            )
                == "there \(target.address)/there")
        let request = try #require(target.requests.first)
        #expect(request.line.hasPrefix("GET ") && request.body.isEmpty)
        #expect(request.headers["authorization"] == nil && request.headers["kind"] == "x")
        #expect(open.run("local r = assert(http.put(A .. '/same', { body = 'x' })) return r.body") == "end")
        #expect(
            server.requests.last?.line.hasPrefix("PUT /end") == true && server.requests.last?.body == Array("x".utf8))
        #expect(open.run("return http.get(A .. '/loop')").contains("redirects more than 10 times"))
        #expect(open.run("return http.get(A .. '/file')").contains("only https and http"))
        open.end()
        let closed = try embedding(server, container: "other")
        defer { closed.end() }
        let result = closed.run("return http.get(A)")
        #expect(result.contains("redirects: connecting to 127.0.0.1:\(target.port) is outside"), "\(result)")
        #expect(target.requests.count == 1)
    }

    @Test("an answer that stalls ends at its timeout, and timers go on meanwhile") func stalls() throws {
        let server = try LoopbackServer { _, client in LoopbackServer.waitForEnd(of: client) }
        defer { server.stop() }
        let embedding = try embedding(server)
        defer { embedding.end() }
        let result = embedding.run(
            """
            local ticks = 0
            local timer = timer.every(0.01, function() ticks = ticks + 1 end)
            local r, err, code = http.get(A, { timeout = 0.3 })
            timer:cancel()
            return r, code, err.message, ticks > 1
            """)
        #expect(
            result.hasPrefix("nil -1001 ") && result.contains("within 0.3 s") && result.hasSuffix(" true"), "\(result)")
    }

    @Test("endless bytes end at the limit; a file is as it was") func endless() throws {
        let server = try LoopbackServer { request, client in
            let length = request.line.contains("/said") ? "Content-Length: 10000000000\r\n" : ""
            LoopbackServer.write("HTTP/1.1 200 OK\r\n\(length)\r\n", to: client)
            let piece = String(repeating: "x", count: 1 << 16)
            while LoopbackServer.write(piece, to: client) {}
        }
        defer { server.stop() }
        let embedding = try embedding(server)
        defer { embedding.end() }
        for path in ["/", "/said"] {
            let result = embedding.run("return http.get(A .. '\(path)', { maxSize = 1000000 })")
            #expect(result.contains("larger than 1,000,000 bytes") && result.hasSuffix("-1103"), "\(result)")
        }
        #expect(embedding.run("return http.get(A)").contains("larger than 67,108,864 bytes"))
        let file = "app.container.documents .. '/file'"
        let result = embedding.run(
            "fs.write(\(file), 'old') local r, err, code = http.get(A, { to = \(file), maxSize = 3000000 }) local others = 0 for _, name in ipairs(fs.list(app.container.documents)) do if name:find('file') and name ~= 'file' then others = others + 1 end end return r, code, fs.read(\(file)), others"
        )
        #expect(result == "nil -1103 old 0", "\(result)")
    }

    @Test("an answer that is cut is an error, and no part of it is in the file") func cut() throws {
        let server = try LoopbackServer { _, client in
            LoopbackServer.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart", to: client)
        }
        defer { server.stop() }
        let embedding = try embedding(server)
        defer { embedding.end() }
        #expect(embedding.run("return select(3, http.get(A))") == "-1005")
        let file = "app.container.documents .. '/file'"
        #expect(
            embedding.run(
                "return (http.get(A, { to = \(file) })), fs.exists(\(file)), #fs.list(app.container.documents)")
                == "nil false 0")
    }

    @Test("the body of a success goes to the file, that of another status does not") func files() throws {
        let server = try LoopbackServer { request, client in
            LoopbackServer.send("bytes", status: request.line.contains("/no") ? "404 Not Found" : "200 OK", to: client)
        }
        defer { server.stop() }
        let embedding = try embedding(server)
        defer { embedding.end() }
        let file = "app.container.documents .. '/file'"
        #expect(
            embedding.run(
                "local r = assert(http.get(A, { to = \(file) })) return r.status, r.body, r.path == \(file), fs.read(\(file))"
            )
                == "200 nil true bytes")
        #expect(
            embedding.run(
                "fs.write(\(file), 'old') local r = assert(http.get(A .. '/no', { to = \(file) })) return r.status, r.body, r.path, fs.read(\(file))"
            )
                == "404 bytes nil old")
        #expect(embedding.run("return select(3, http.get(A, { to = '/etc/cubby-test' }))") == "13")
        #expect(embedding.run("return select(3, http.put(A, { file = '/etc/passwd' }))") == "13")
    }

    @Test("a failure that may pass is tried again as often as said") func retries() throws {
        let count = Mutex(0)
        let server = try LoopbackServer { _, client in
            let number = count.withLock { count in
                count += 1
                return count
            }
            LoopbackServer.send(
                "\(number)", status: number % 3 == 0 ? "200 OK" : "503 Busy", headers: ["Retry-After: 0"], to: client)
        }
        defer { server.stop() }
        let embedding = try embedding(server)
        defer { embedding.end() }
        #expect(embedding.run("local r = http.get(A, { retries = 5 }) return r.status, r.body") == "200 3")
        #expect(embedding.run("local r = http.get(A, { retries = 1 }) return r.status, r.body") == "503 5")
        #expect(embedding.run("local r = http.get(A) return r.status, r.body") == "200 6")
    }

    @Test("two hundred requests at once, from coroutines and timers") func many() throws {
        let server = try LoopbackServer { request, client in
            LoopbackServer.send(String(request.line.split(separator: "/")[1].prefix { $0 != " " }), to: client)
        }
        defer { server.stop() }
        let embedding = try embedding(server)
        defer { embedding.end() }
        let result = embedding.run(
            """
            local done, sum = 0, 0
            for i = 1, 200 do
              timer.after(0, function()
                local r = assert(http.get(A .. "/" .. i))
                done, sum = done + 1, sum + math.tointeger(r.body)
              end)
            end
            while done < 200 do timer.sleep(0.01) end
            return done, sum
            """)
        #expect(result == "200 20100")
        #expect(embedding.run("return coroutine.wrap(function() return http.get(A .. '/7').body end)()") == "7")
    }

    @Test("a request ends with the time of its script, and the host goes on") func limits() throws {
        let server = try LoopbackServer { request, client in
            if request.line.contains("/stall") {
                LoopbackServer.waitForEnd(of: client)
            } else {
                LoopbackServer.send("on", to: client)
            }
        }
        defer { server.stop() }
        let embedding = try Embedding(scratch.file("container")) {
            $0.connectable = ["127.0.0.1:\(server.port)"]
            $0.timeLimit = .milliseconds(300)
        }
        defer { embedding.end() }
        #expect(embedding.run("return http.get('\(server.address)/stall')").contains("time"))
        // One that a busy machine keeps waiting may end with its time, too.
        var answer = ""
        for _ in 0..<50 where answer != "on" { answer = embedding.run("return http.get('\(server.address)/').body") }
        #expect(answer == "on")
    }

    @Test("arguments that make no sense are errors of the script") func arguments() throws {
        let embedding = try Embedding(scratch.file("container"))
        defer { embedding.end() }
        for (call, reason) in [
            ("http.get()", "url"), ("http.get('http://a', { timeout = 0 })", "seconds above 0"),
            ("http.get('http://a', { retries = -1 })", "from 0 to 100"),
            ("http.get('http://a', { verify = false })", "verify"),
            ("http.get('http://a', { body = 'x' })", "sends no body"),
            ("http.post('http://a', { body = 'x', json = 1 })", "body and json"),
            ("http.post('http://a', { headers = { ['a\\nb'] = 'x' } })", "the name of a header"),
            ("http.post('http://a', { headers = { a = 'x\\r\\ny: z' } })", "line break"),
            ("http.post('http://a', { headers = { Host = 'x' } })", "the client's own"),
            ("http.post('http://a', { headers = { [('x'):rep(1001)] = 'x' } })", "at most 1,000 bytes"),
            ("http.post('http://a', { json = print })", "json"),
            ("http.post('http://a', { form = { a = print } })", "a text"),
            ("http.post('http://a', { form = { a = { b = 1 } } })", "an array of its values, got the key \"b\""),
            ("http.post('http://a', { form = { a = { 1, [3] = 3 } } })", "an array of its values, got the key 3"),
        ] {
            let result = embedding.run("return \(call)")
            #expect(result.hasPrefix("error: ") && result.contains(reason), "\(call): \(result)")
        }
    }

    @Test("a test answers in place of the servers") func replaced() throws {
        let embedding = try Embedding(scratch.file("container"))
        defer { embedding.end() }
        _ = embedding.run(
            """
            function answer(request)
              seen = request.method .. " " .. request.url .. " " .. (request.body or "-")
              if request.method ~= "GET" then return nil, "the line is down" end
              return { status = 202, body = '{"a":1}' }
            end
            """)
        guard case .function(let answer) = embedding.host.state.globals["answer"] else {
            throw TestFailure("there is no function")
        }
        embedding.host.replacements.http = answer
        #expect(embedding.run("local r = http.get('https://example.org/x') return r.status, r:json().a") == "202 1")
        #expect(
            embedding.run("return select(2, http.put('https://example.org/', { body = 'b' })).message")
                == "the line is down")
        #expect(embedding.run("return seen") == "PUT https://example.org/ b")
        _ = embedding.run("function answer() return given end")
        guard case .function(let other) = embedding.host.state.globals["answer"] else {
            throw TestFailure("there is no function")
        }
        embedding.host.replacements.http = other
        for (given, reason) in [
            ("{ status = 'abc' }", "the status \"abc\": an integer from 100 to 999"), ("{ status = 404.5 }", "404.5"),
            ("{ status = 99 }", "99"), ("{ status = 1000 }", "1000"), ("{ status = {} }", "the status"),
            ("{ stauts = 500 }", "the key \"stauts\": status, headers and body"), ("{ 'ok' }", "the key 1"),
            ("{ headers = { a = { 1 } } }", "the header \"a\" = table"), ("{ headers = { 'a' } }", "the header 1"),
            ("{ headers = 'a: b' }", "headers that are a string"), ("{ body = print }", "a body that JSON cannot hold"),
        ] {
            let result = embedding.run("given = \(given) return http.get('https://example.org/')")
            #expect(result.contains("replace.http answered GET https://example.org/ with"), "\(given): \(result)")
            #expect(result.contains(reason), "\(given): \(result)")
        }
        #expect(
            embedding.run(
                "given = { status = 404.0, headers = { A = 1 } } local r = http.get('https://example.org/') return r.status, r.headers.a, #r.body"
            ) == "404 1 0")
    }

    @Test(
        "a certificate that nobody vouches for is refused",
        .enabled(if: access("/usr/bin/openssl", X_OK) == 0, "needs openssl"))
    func certificates() throws {
        let (key, certificate) = (scratch.file("key"), scratch.file("certificate"))
        let made = try run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "1",
                "-subj",
                "/CN=localhost",
            ])
        try #require(made.status == .exited(0), "\(made.stderr)")
        // A free port, which openssl takes over.
        let placeholder = try LoopbackServer { _, _ in }
        let port = placeholder.port
        placeholder.stop()
        let server = Process()
        server.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        server.arguments = ["s_server", "-accept", "127.0.0.1:\(port)", "-key", key, "-cert", certificate, "-www"]
        let output = Pipe()
        (server.standardInput, server.standardOutput, server.standardError) = (
            FileHandle.nullDevice, output, FileHandle.nullDevice
        )
        try server.run()
        defer { server.terminate() }
        // It says ACCEPT when it listens.
        var said = ""
        while !said.contains("ACCEPT") {
            let bytes = output.fileHandleForReading.availableData
            if bytes.isEmpty { break }
            said += String(decoding: bytes, as: UTF8.self)
        }
        let embedding = try Embedding(scratch.file("container")) { $0.connectable = ["127.0.0.1:\(port)"] }
        defer { embedding.end() }
        let result = embedding.run(
            "local r, err, code = http.get('https://127.0.0.1:\(port)/') return r, code, err.message")
        #expect(result.hasPrefix("nil -1202 the certificate of 127.0.0.1:\(port) is not trusted"), "\(result)")
    }
}
