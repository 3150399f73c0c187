import Application
import Files
import Lua
import Network
import PropertyList
package import Scripting
import Wording

/// `http`: requests to granted hosts.
package enum HTTPModule: ScriptModule {
    package static let name = "http"

    package static func declare(in host: ScriptHost) -> [Global] {
        let answers = HTTPAnswer.makeClass(in: host)
        let module = LuaModule(
            "http", doc: "Requests to the hosts that are granted (--allow-net, cubby config grant net), with TLS.",
            in: host.state)
        let service = HTTPService(host, answers)
        host.atEnd { service.end() }
        for (name, documentation) in [
            ("get", "Gets what is at an address."), ("post", "Sends something to an address."),
            ("put", "Puts something at an address."), ("delete", "Deletes what is at an address."),
        ] {
            module.function(
                name,
                [
                    LuaParameter("url", .text, "the address, https://… or http://…"),
                    LuaParameter("options", HTTPOptions.luaType, "options of the request"),
                ], returns: LuaType.orError(.object(HTTPAnswer.luaName)),
                doc: documentation
                    + " The script waits; timers, signals and other tasks continue meanwhile. An answer with any status is a response; nil and an error if there is none, or the host is not granted. Redirects are followed within what is granted.",
                example: "return http.\(name)(\"https://example.org/\")"
            ) { call in try service.send(HTTPField.capital(name), call) }
        }
        return [module.global]
    }
}

/// The options of a request.
struct HTTPOptions: LuaOptions {
    var headers: LuaTable?
    var body: BytesArgument?
    var json: LuaValue?
    var form: LuaTable?
    var file: String?
    var timeout: Double?
    var retries = 0
    var to: String?
    var maxSize: Int?

    static var luaOptions: [LuaOption<HTTPOptions>] {
        LuaOption("headers", \.headers, doc: "names and texts of the header")
        LuaOption("body", \.body, doc: "the bytes to send")
        LuaOption("json", \.json, doc: "a value to send as JSON")
        LuaOption("form", \.form, doc: "fields to send as an HTML form does; an array is a field of several values")
        LuaOption("file", \.file, doc: "the path of a file to send")
        LuaOption("timeout", \.timeout, doc: "seconds for an attempt, with its redirects (default: 30)")
        LuaOption(
            "retries", \.retries,
            doc:
                "further attempts after a failed connection, a timeout, or the statuses 408, 429, 500, 502, 503 and 504 (default: 0); a post is repeated only if the server has not accepted it"
        )
        LuaOption(
            "to", \.to, doc: "the path of a file for the body of a success, which is replaced when all has arrived")
        LuaOption("maxSize", \.maxSize, doc: "the maximum number of bytes of the body (default: 64 MB, to a file 1 GB)")
    }
}

extension HTTPField {
    /// The method of a function's name.
    static func capital(_ name: String) -> String {
        String(decoding: name.utf8.map { $0 & ~0x20 }, as: UTF8.self)
    }
}

/// Sends the requests of a host's scripts.
final class HTTPService {
    private unowned let host: ScriptHost
    private let answers: LuaClass<HTTPAnswer>
    private lazy var client = HTTPClient(
        fence: host.network, loop: host.loop, agent: "cubby/\(CubbyVersion.string)", memoryLimit: memoryLimit)
    private var hasClient = false

    init(_ host: ScriptHost, _ answers: LuaClass<HTTPAnswer>) { (self.host, self.answers) = (host, answers) }

    func end() { if hasClient { client.end() } }

    /// Of a memory limit a half may be on its way.
    private var memoryLimit: Int { host.options.memoryLimit.map { $0 / 2 } ?? 256 << 20 }

    /// Performs a call of one of the functions.
    func send(_ method: String, _ call: LuaCall) throws -> LuaResults {
        let options = try HTTPOptions(lua: call.value(1))
        var request = HTTPRequest(method: method, url: try call.text(0))
        try setLimits(&request, options)
        request.headers = try headers(options)
        do {
            try setBody(&request, options)
            // In a test: no grant is needed then, and nothing connects.
            if let replacement = host.replacements.http {
                return try answer(call, request, options, try replacement.call(.table(table(of: request))))
            }
            hasClient = true
            try host.checkConnection(to: try client.endpoint(of: request.url))
            if let path = options.to { try host.attempt(path, .readWrite) { _ in }.get() }
        } catch let error where error is HTTPError || error is NetworkDenial || error is FileError {
            return call.returns(failure: error)
        }
        try host.lifeCycle.saver.settle()
        return try wait(call, request, options)
    }

    private func wait(_ call: LuaCall, _ request: HTTPRequest, _ options: HTTPOptions) throws -> LuaResults {
        let destination = options.to.map { path in
            { [unowned host] in
                try host.attempt(path, .readWrite) { try FileTarget.writer(for: path, using: $0) }.get()
            }
        }
        let progress = DownloadProgress(request.method + " " + request.url, host.output)
        return try host.scheduler.wait(for: call) { [unowned self] resume in
            let cancel = client.send(request, to: destination, progress: progress.show) { [answers] result in
                progress.finish()
                resume { call in
                    switch result {
                    case .success(let response):
                        call.returns(HTTPAnswer(response, path: response.isSuccess ? options.to : nil), answers)
                    case .failure(let error): call.returns(failure: error)
                    }
                }
            }
            return {
                progress.finish()
                cancel()
            }
        }
    }

    // MARK: The request

    private func setLimits(_ request: inout HTTPRequest, _ options: HTTPOptions) throws(LuaMismatch) {
        if let seconds = options.timeout {
            guard seconds > 0, seconds <= 86_400 else {
                throw LuaMismatch(
                    "option 'timeout': seconds above 0 expected, at most 86400, got \(seconds)", argument: "options")
            }
            request.timeout = .seconds(seconds)
        }
        guard (0...100).contains(options.retries) else {
            throw LuaMismatch(
                "option 'retries': a number from 0 to 100 expected, got \(options.retries)", argument: "options")
        }
        request.retries = options.retries
        let standard = host.options.memoryLimit.map { min($0 / 4, HTTPRequest.standardSizeLimit) }
        request.sizeLimit =
            options.maxSize
            ?? (options.to == nil ? standard ?? HTTPRequest.standardSizeLimit : HTTPRequest.standardFileLimit)
        guard request.sizeLimit >= 0 else {
            throw LuaMismatch(
                "option 'maxSize': a number of bytes expected, got \(request.sizeLimit)", argument: "options")
        }
    }

    private func headers(_ options: HTTPOptions) throws -> [HTTPField] {
        var fields: [HTTPField] = []
        try options.headers?.forEach { key, value in
            guard let name = key.textValue, let text = Self.text(of: value) else {
                throw LuaMismatch(
                    "option 'headers': names with texts expected, got \(key) = \(value.typeName)", argument: "options")
            }
            let field = HTTPField(name, text)
            if let objection = field.objection {
                throw LuaMismatch("option 'headers': \(objection)", argument: "options")
            }
            fields.append(field)
            return true
        }
        return fields.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// A text, a number or a boolean as a text.
    private static func text(of value: LuaValue) -> String? {
        switch value {
        case .string: value.textValue
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .boolean(let value): "\(value)"
        default: nil
        }
    }

    private func setBody(_ request: inout HTTPRequest, _ options: HTTPOptions) throws {
        let given = [
            ("body", options.body != nil), ("json", options.json.map { !$0.isNil } ?? false),
            ("form", options.form != nil),
            ("file", options.file != nil),
        ].filter(\.1).map(\.0)
        guard given.count <= 1 else {
            throw LuaMismatch(
                "a request has one body, got the options \(given.joined(separator: " and "))", argument: "options")
        }
        guard given.isEmpty || request.method != "GET" else {
            throw LuaMismatch("http.get sends no body: http.post and http.put do", argument: "options")
        }
        var type: String?
        if let body = options.body { request.body = .bytes(body.bytes) }
        if let json = options.json, !json.isNil {
            do {
                request.body = .bytes(try host.values.propertyList(json, writesDays: true).json(isPretty: false))
            } catch {
                throw LuaMismatch(
                    "option 'json': \((error as? any LuaErrorDetails)?.luaMessage ?? "\(error)")", argument: "options")
            }
            type = "application/json"
        }
        if let form = options.form {
            request.body = .bytes(try HTTPForm.encode(form, Self.text))
            type = "application/x-www-form-urlencoded"
        }
        if let path = options.file {
            request.body = .file(
                try host.attempt(path, .read) { layer in
                    let file = try layer.open(path, .read)
                    do { return HTTPUpload(file, count: Int(try layer.status(file).size)) { layer.close(file) } } catch
                    {
                        layer.close(file)
                        throw error
                    }
                }.get())
        }
        if let type, !request.headers.contains(where: { $0.isNamed("content-type") }) {
            request.headers.append(HTTPField("Content-Type", type))
        }
    }

    // MARK: Replaced servers

    private func table(of request: HTTPRequest) -> LuaTable {
        let headers = host.state.makeTable(fields: request.headers.count)
        for field in request.headers { headers[HTTPField.small(field.name)] = .text(field.value) }
        return host.state.makeTable([
            "method": request.method, "url": request.url, "headers": headers,
            "body": request.body.contents.map { LuaString($0) },
        ])
    }

    private func answer(
        _ call: LuaCall, _ request: HTTPRequest, _ options: HTTPOptions, _ values: [LuaValue]
    ) throws -> LuaResults {
        let name = "\(request.method) \(request.url)"
        guard case .table(let table)? = values.first else {
            guard values.count > 1, let text = values[1].textValue else {
                throw LuaError(
                    .runtime,
                    "replace.http answered nothing to \(name): a table with a status and a body expected, or nil and a text"
                )
            }
            return call.returns(failure: HTTPError(.cannotConnectToHost, text))
        }
        let response: HTTPResponse
        do { response = try self.response(table, request.url) } catch let error as LuaMismatch {
            throw LuaError(.runtime, "replace.http answered \(name) with \(error.message)")
        }
        guard let path = options.to, response.isSuccess else {
            return call.returns(HTTPAnswer(response, path: nil), answers)
        }
        switch try host.write(response.body, to: path) {
        case .success: return call.returns(HTTPAnswer(response, path: path), answers)
        case .failure(let error): return call.returns(failure: error)
        }
    }
}

extension HTTPService {
    /// The response that a table of `replace.http` describes.
    ///
    /// - Throws: `LuaMismatch` for what a response does not have.
    private func response(_ table: LuaTable, _ url: String) throws -> HTTPResponse {
        try table.forEach { key, _ in
            guard let name = key.textValue, ["status", "headers", "body"].contains(name) else {
                throw LuaMismatch("the key \(key): status, headers and body expected")
            }
            return true
        }
        let status = table["status"].isNil ? 200 : table["status"].integerValue
        guard let status, 100...999 ~= status else {
            throw LuaMismatch("the status \(table["status"]): an integer from 100 to 999 expected")
        }
        var response = HTTPResponse(status: Int(status), url: url)
        switch table["headers"] {
        case .nil: break
        case .table(let headers):
            try headers.forEach { key, value in
                guard let name = key.textValue, let text = Self.text(of: value) else {
                    throw LuaMismatch("the header \(key) = \(value.typeName): names with texts expected")
                }
                response.headers.append(HTTPField(name, text))
                return true
            }
        case let value: throw LuaMismatch("headers that are a \(value.typeName): a table of names with texts expected")
        }
        switch table["body"] {
        case .nil: break
        case .string(let bytes): response.body = bytes.bytes
        case let value:
            do {
                response.body = try host.values.propertyList(value, writesDays: true).json(isPretty: false)
            } catch {
                let reason = (error as? any LuaErrorDetails)?.luaMessage ?? "\(error)"
                throw LuaMismatch("a body that JSON cannot hold: \(reason)")
            }
        }
        return response
    }
}

/// A long download's progress on a terminal.
private final class DownloadProgress {
    private let label: String
    private let output: ScriptOutput
    private var bar: ProgressBar?
    /// The size from which it is shown.
    private static let threshold = 1 << 20

    init(_ label: String, _ output: ScriptOutput) { (self.label, self.output) = (label, output) }

    func show(_ count: Int, _ total: Int?) {
        guard let total, total >= Self.threshold else { return }
        let shown = bar ?? ProgressBar(total: Int64(total), label: label, unit: .bytes)
        bar = shown
        shown.show(Int64(count), output)
    }

    func finish() {
        bar?.finish(output)
        bar = nil
    }
}
