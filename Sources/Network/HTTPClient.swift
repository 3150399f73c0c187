package import Application
package import Files
import Glibc
import Synchronization
import Wording

/// A client of HTTP within the network's fence.
///
/// It belongs to the thread of an event loop, in whose turns requests go on and end; the transfers are performed by a thread of
/// its own. Each target is checked before its name is resolved, that of a redirect as well, and each address when it is
/// connected to.
package final class HTTPClient {
    /// The statuses of redirects.
    static let redirects: Set<Int> = [301, 302, 303, 307, 308]
    /// Maximum number of transfers at once; the others wait for their turn.
    private static let width = 256

    private let fence: NetworkFence
    private let loop: EventLoop
    private let agent: String
    private let memory: HTTPMemory
    private var connected: (library: CurlLibrary, thread: TransferThread)?
    /// The number of transfers that are under way, and the exchanges that wait for their turn.
    private var count = 0
    private var waiting: [HTTPExchange] = []
    /// The requests that have not ended.
    private var exchanges: [ObjectIdentifier: HTTPExchange] = [:]

    /// - Parameters:
    ///   - fence: what may be connected to.
    ///   - loop: the event loop.
    ///   - agent: the program's name and version, for servers.
    ///   - memoryLimit: maximum number of bytes of answers on their way, of all requests.
    package init(fence: NetworkFence, loop: EventLoop, agent: String, memoryLimit: Int) {
        (self.fence, self.loop, self.agent) = (fence, loop, agent)
        memory = HTTPMemory(limit: memoryLimit)
    }

    /// The target of an address.
    ///
    /// - Throws: `HTTPError` if it is not an address of HTTP, or libcurl is missing.
    package func endpoint(of url: String) throws(HTTPError) -> NetworkEndpoint {
        try HTTPAddress(url, try connect().library).endpoint
    }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - destination: begins a new version of the file that the body of a success goes to, for each attempt; nil for
    ///     none. The version is committed before the answer is given.
    ///   - progress: called now and then with the number of bytes that have arrived, and the expected one.
    ///   - done: receives the answer, or an `HTTPError`, a `NetworkDenial` or a `FileError`, in a later turn of the loop.
    /// - Returns: a function that gives the request up.
    package func send(
        _ request: HTTPRequest, to destination: (() throws -> AtomicFileWriter)? = nil,
        progress: @escaping (Int, Int?) -> Void = { _, _ in },
        done: @escaping (Result<HTTPResponse, any Error>) -> Void
    ) -> () -> Void {
        let exchange = HTTPExchange(self, request, destination, progress, done)
        exchanges[ObjectIdentifier(exchange)] = exchange
        exchange.beginAttempt()
        return { exchange.cancel() }
    }

    /// Gives up all requests, and waits for the end of their thread.
    package func end() {
        waiting = []
        for exchange in exchanges.values { exchange.cancel() }
        connected?.thread.end()
        connected = nil
    }

    // MARK: For exchanges

    fileprivate func connect() throws(HTTPError) -> (library: CurlLibrary, thread: TransferThread) {
        if let connected { return connected }
        let library = try CurlLibrary()
        let made = (library: library, thread: try TransferThread(library))
        connected = made
        return made
    }

    fileprivate var surroundings: (fence: NetworkFence, loop: EventLoop, agent: String, memory: HTTPMemory) {
        (fence, loop, agent, memory)
    }

    /// Begins an exchange's transfer when there is a place for it.
    fileprivate func take(_ exchange: HTTPExchange) {
        guard count < Self.width else { return waiting.append(exchange) }
        count += 1
        exchange.perform()
    }

    /// A transfer has ended: the next one has its place.
    fileprivate func release() {
        count -= 1
        while count < Self.width, !waiting.isEmpty { take(waiting.removeFirst()) }
    }

    /// An exchange has ended, possibly before it had a place.
    fileprivate func forget(_ exchange: HTTPExchange, isWaiting: Bool) {
        if isWaiting { waiting.removeAll { $0 === exchange } }
        exchanges[ObjectIdentifier(exchange)] = nil
    }
}

/// A request on its way: its attempts, and the redirects of each.
private final class HTTPExchange {
    private let client: HTTPClient
    private let request: HTTPRequest
    private let destination: (() throws -> AtomicFileWriter)?
    private let showProgress: (Int, Int?) -> Void
    private let done: (Result<HTTPResponse, any Error>) -> Void

    /// The request as it is sent now, after redirects.
    private var current: HTTPRequest
    private var deadline = MonotonicTime.now()
    private var redirectCount = 0
    private var attempt = 0
    private var writer: AtomicFileWriter?
    private var transfer: HTTPTransfer?
    private var reply: EventReply<HTTPOutcome>?
    private var timer: LoopTimer?
    private var ticks: LoopTimer?
    private var hasEnded = false
    /// Whether it has one of the client's places.
    private var hasPlace = false

    init(
        _ client: HTTPClient, _ request: HTTPRequest, _ destination: (() throws -> AtomicFileWriter)?,
        _ progress: @escaping (Int, Int?) -> Void, _ done: @escaping (Result<HTTPResponse, any Error>) -> Void
    ) {
        (self.client, self.request, self.destination) = (client, request, destination)
        (showProgress, self.done) = (progress, done)
        current = request
    }

    func beginAttempt() {
        attempt += 1
        current = request
        redirectCount = 0
        client.take(self)
    }

    /// Sends the current request.
    func perform() {
        guard !hasEnded else { return client.release() }
        if redirectCount == 0 { deadline = .now().advanced(by: request.timeout / .seconds(1)) }
        hasPlace = true
        do {
            let (library, thread) = try client.connect()
            let address = try HTTPAddress(current.url, library)
            let surroundings = client.surroundings
            try surroundings.fence.check(address.endpoint)
            let proxy = HTTPProxy(for: address, library).flatMap { surroundings.fence.permits($0.endpoint) ? $0 : nil }
            writer = try destination?()
            let reply = surroundings.loop.reply { [self] (outcome: HTTPOutcome) in take(outcome) }
            self.reply = reply
            let transfer = HTTPTransfer(
                HTTPTransfer.Order(
                    request: current, address: address, proxy: proxy, fence: surroundings.fence,
                    agent: surroundings.agent, seconds: deadline.seconds(since: .now())),
                writer: writer, memory: surroundings.memory
            ) { reply.send($0) }
            self.transfer = transfer
            ticks = surroundings.loop.every(0.1) { [self] in
                let (count, total) = transfer.progress.withLock { ($0.done, $0.total) }
                showProgress(count, total)
            }
            thread.add(transfer)
        } catch {
            // In a later turn: the caller has not its wait yet.
            timer = client.surroundings.loop.after(0) { [self] in finish(.failure(error)) }
        }
    }

    /// Gives the request up.
    func cancel() {
        guard !hasEnded else { return }
        hasEnded = true
        timer?.cancel()
        if let transfer { try? client.connect().thread.cancel(transfer) }
        if let reply { client.surroundings.loop.forget(reply) }
        let isWaiting = !hasPlace
        leave()
        client.forget(self, isWaiting: isWaiting)
    }

    /// Gives back what the transfer had.
    private func leave() {
        ticks?.cancel()
        (ticks, transfer, reply, writer) = (nil, nil, nil, nil)
        guard hasPlace else { return }
        hasPlace = false
        client.release()
    }

    private func finish(_ result: Result<HTTPResponse, any Error>) {
        guard !hasEnded else { return }
        hasEnded = true
        leave()
        client.forget(self, isWaiting: false)
        done(result)
    }

    // MARK: An outcome

    private func take(_ outcome: HTTPOutcome) {
        guard !hasEnded else { return }
        if let failure = outcome.failure {
            // The transfer's thread is through with it, but may hold it for a moment: nobody finds a part of the answer.
            writer?.abandon()
            return fail(error(of: failure))
        }
        let response = HTTPResponse(
            status: outcome.status, headers: outcome.headers, body: outcome.body, url: current.url)
        if let redirect = outcome.redirect { return follow(redirect, response) }
        if response.mayPass, attempt <= request.retries, repeats(response),
            response.retryAfter ?? 0 <= Self.longestPause
        {
            return tryAgain(after: response.retryAfter)
        }
        do throws(FileError) {
            if response.isSuccess { try writer?.commit(durable: true) } else { writer?.abandon() }
        } catch {
            return finish(.failure(error))
        }
        finish(.success(response))
    }

    /// Sends the request to another address: with the same fence, and without what is meant for the first one.
    private func follow(_ url: String, _ response: HTTPResponse) {
        do {
            let library = try client.connect().library
            let (old, new) = (try HTTPAddress(current.url, library), try HTTPAddress(url, library))
            redirectCount += 1
            guard redirectCount <= HTTPRequest.redirectLimit else {
                throw HTTPError(
                    .httpTooManyRedirects,
                    "\(VisibleText.line(request.url)) redirects more than \(HTTPRequest.redirectLimit) times")
            }
            if old.isSecure, !new.isSecure {
                throw HTTPError(
                    .secureConnectionFailed, "\(old.endpoint) redirects to \(VisibleText.line(new.text)), without TLS")
            }
            do throws(NetworkDenial) { try client.surroundings.fence.check(new.endpoint) } catch {
                throw NetworkDenial(redirectingFrom: old.endpoint, error)
            }
            var next = current
            next.url = new.text
            if response.status == 303 || (response.status != 307 && response.status != 308 && next.method == "POST") {
                next.method = "GET"
                next.body = .none
                next.headers.removeAll { $0.isNamed("content-type") || $0.isNamed("content-encoding") }
            }
            if old.endpoint != new.endpoint || old.isSecure != new.isSecure {
                next.headers.removeAll { HTTPField.personal.contains(HTTPField.small($0.name)) }
            }
            current = next
            leave()
            client.take(self)
        } catch {
            finish(.failure(error))
        }
    }

    /// Whether the request may be sent once more, although the server has it: what POST does would be done twice, unless
    /// the server says that it has done nothing.
    private func repeats(_ response: HTTPResponse) -> Bool {
        request.method != "POST" || response.status == 503 || response.status == 429
    }

    private func fail(_ error: any Error) {
        if let error = error as? HTTPError, error.mayPass, attempt <= request.retries,
            request.method != "POST" || error.isBeforeRequest
        {
            return tryAgain(after: nil)
        }
        finish(.failure(error))
    }

    /// The seconds that a server may have a request wait; for longer ones the answer is given.
    private static let longestPause = 60.0

    /// Begins another attempt: after half a second, the next after twice as much, up to half a minute; or as the server says.
    private func tryAgain(after seconds: Double?) {
        leave()
        let pause = seconds ?? min(0.5 * Double(1 << min(attempt - 1, 6)), 30)
        timer = client.surroundings.loop.after(pause) { [self] in beginAttempt() }
    }

    private func error(of failure: HTTPOutcome.Failure) -> any Error {
        let target = (try? client.endpoint(of: current.url)).map { "\($0)" } ?? current.url
        let place = VisibleText.line(target)
        switch failure {
        case .denied(let denial): return denial
        case .file(let error): return error
        case .tooLarge:
            return HTTPError(
                .dataLengthExceedsMaximum,
                "the answer of \(place) is larger than \(request.sizeLimit.counted("byte")), or than the memory for answers; maxSize raises the limit, to writes a file"
            )
        case .headerTooLong:
            return HTTPError(
                .badServerResponse, "the header of the answer of \(place) is too long: a line of it, or all its lines")
        case .body(let failure):
            let code = failure == .endsEarly ? HTTPError.Code.networkConnectionLost : .badServerResponse
            return HTTPError(code, "\(place): \(failure.reason)")
        case .library(let code, let text, let system):
            return HTTPError(code, text, system, place, seconds: request.timeout / .seconds(1), hint: proxyHint)
        }
    }

    /// The proxy that is named and not used, for an error of the connection.
    private var proxyHint: String {
        guard let library = try? client.connect().library, let address = try? HTTPAddress(current.url, library),
            let named = HTTPProxy.named(for: address)
        else { return "" }
        guard let proxy = HTTPProxy(for: address, library) else {
            return
                "; the environment names the proxy \(VisibleText.line(named.shortened(to: 200))), which is none of HTTP and is not used"
        }
        if client.surroundings.fence.permits(proxy.endpoint) { return "" }
        return
            "; the environment names the proxy \(proxy.endpoint), which is used where --allow-net \(proxy.endpoint) grants it"
    }
}

extension HTTPError {
    /// An error of the library.
    fileprivate init(
        _ code: Int32, _ text: String, _ system: Int32, _ place: String, seconds: Double, hint: String
    ) {
        let text = VisibleText.line(text)
        switch code {
        case 3: self.init(.badURL, "\(place): \(text)")
        case 5, 6: self.init(.cannotFindHost, "the name of \(place) is not resolved: \(text)\(hint)")
        case 7 where system == EACCES:
            self.init(
                .cannotConnectToHost,
                "\(place) is not reached: the kernel's fence was closed without this port; start with --allow-net \(place)"
            )
        case 7: self.init(.cannotConnectToHost, "\(place) does not answer: \(text)\(hint)")
        case 28:
            self.init(
                .timedOut, "\(place) has not answered within \(SecondsText.text(seconds)) (timeout): \(text)\(hint)")
        // The schemes were checked before: 1 is an answer in HTTP/0.9.
        case 1, 8, 61: self.init(.badServerResponse, "\(place) has not answered in HTTP: \(text)")
        case 18, 52, 55, 56, 16, 92: self.init(.networkConnectionLost, "the connection to \(place) was cut: \(text)")
        case 35: self.init(.secureConnectionFailed, "TLS with \(place) failed: \(text)")
        case 60: self.init(.serverCertificateUntrusted, "the certificate of \(place) is not trusted: \(text)")
        default: self.init(.unknown, "\(place): \(text)")
        }
    }
}

/// Seconds in a message.
private enum SecondsText {
    static func text(_ seconds: Double) -> String {
        Int(exactly: seconds).map { "\($0) s" } ?? "\(seconds) s"
    }
}
