import Files
import Synchronization
import Wording

/// A machine and a port of it, as the target of a connection.
package struct NetworkEndpoint: Sendable, Hashable, CustomStringConvertible {
    /// A name in small letters, or an address without brackets.
    package let host: String
    package let port: Int

    /// - Parameters:
    ///   - host: a name or an address, with or without brackets.
    ///   - port: the port.
    package init(host: String, port: Int) {
        (self.host, self.port) = (NetworkGrant.canonical(host), port)
    }

    /// As a grant names it: `example.org:443`, `[::1]:8080`.
    package var description: String { NetworkGrant.bracketed(host) + ":\(port)" }
}

/// A machine that scripts may connect to, with its ports.
package struct NetworkGrant: Sendable, Hashable, CustomStringConvertible {
    /// As in ``NetworkEndpoint``.
    package let host: String
    /// One port, or those of HTTP and HTTPS.
    package let ports: [Int]

    /// The ports of a grant without one.
    static let usual = [80, 443]

    /// A grant of one endpoint.
    package init(_ endpoint: NetworkEndpoint) { (host, ports) = (endpoint.host, [endpoint.port]) }

    /// Parses `HOST`, `HOST:PORT`, `[IPv6]` or `[IPv6]:PORT`.
    ///
    /// - Parameter text: a name or an address; a name means itself alone and no name beneath it.
    /// - Throws: `NetworkGrantError` for anything else.
    package init(_ text: String) throws(NetworkGrantError) {
        func refuse(_ reason: String) -> NetworkGrantError { NetworkGrantError(text: text, reason: reason) }
        if text.utf8.contains(UInt8(ascii: "/")) {
            throw refuse("a host and a port are granted, not a URL: write it as example.org or example.org:8443")
        }
        if text.utf8.contains(UInt8(ascii: "*")) { throw refuse("there are no patterns: grant each host by its name") }
        var name = text[...]
        var port: Substring?
        if name.utf8.first == UInt8(ascii: "[") {
            guard let end = name.firstIndex(of: "]") else { throw refuse("the bracket is not closed") }
            let rest = name[name.index(after: end)...]
            name = name[name.index(after: name.startIndex)..<end]
            guard rest.isEmpty || rest.utf8.first == UInt8(ascii: ":") else {
                throw refuse("after the bracket comes a colon and the port")
            }
            port = rest.isEmpty ? nil : rest.dropFirst()
            guard NetworkAddress(String(name)) != nil, name.utf8.contains(UInt8(ascii: ":")) else {
                throw refuse("within brackets is an IPv6 address, without a zone")
            }
        } else if NetworkAddress(text) == nil || !text.utf8.contains(UInt8(ascii: ":")) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else { throw refuse("an IPv6 address is in brackets: [::1]:8080") }
            name = parts[0]
            port = parts.count == 2 ? parts[1] : nil
        }
        host = Self.canonical(String(name))
        guard NetworkAddress(host) != nil || Self.isName(host) else {
            throw refuse(
                host.utf8.allSatisfy { $0 < 0x80 }
                    ? "it is neither a host's name nor an address"
                    : "a host's name is written in ASCII, as its certificate has it (xn--…)")
        }
        guard let port else {
            ports = Self.usual
            return
        }
        guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(port), (1...65535).contains(number)
        else { throw refuse("a port is a number from 1 to 65535") }
        ports = [number]
    }

    /// As it is granted and revoked.
    package var description: String {
        Self.bracketed(host) + (ports.count == 1 ? ":\(ports.first ?? 0)" : "")
    }

    /// With the ports in words: `example.org, ports 80 and 443`.
    package var title: String { ports.count == 1 ? description : "\(description), ports 80 and 443" }

    package func covers(_ endpoint: NetworkEndpoint) -> Bool {
        host == endpoint.host && ports.contains(endpoint.port)
    }

    static func bracketed(_ host: String) -> String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host }

    /// One spelling: small letters, no dot at the end, an address as the system writes it.
    static func canonical(_ host: String) -> String {
        var bytes = Array(host.utf8)
        if bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]") {
            bytes = Array(bytes.dropFirst().dropLast())
        }
        if bytes.last == UInt8(ascii: "."), bytes.count > 1 { bytes.removeLast() }
        let text = String(decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
        return NetworkAddress(text)?.description ?? text
    }

    /// Whether it is a name of the domain name system, and nothing that a resolver would take for an address.
    private static func isName(_ text: String) -> Bool {
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= 253, let last = labels.last else { return false }
        let isNumber = last.allSatisfy { (0x30...0x39).contains($0) } || last.starts(with: [0x30, 0x78])
        return !isNumber
            && labels.allSatisfy { label in
                (1...63).contains(label.count)
                    && label.allSatisfy {
                        (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x5F
                    }
            }
    }
}

/// A text that is not a grant of the network.
package struct NetworkGrantError: Error, Sendable, Hashable, CustomStringConvertible {
    let text: String
    let reason: String

    package var description: String { "'\(VisibleText.line(text))' cannot be granted: \(reason)" }
}

/// A connection that was not granted.
package struct NetworkDenial: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened, and which grant is missing.
    package let description: String

    /// A target that no grant names.
    package init(_ endpoint: NetworkEndpoint) {
        description =
            "connecting to \(VisibleText.line("\(endpoint)")) is outside the sandbox; \(Self.remedy("\(endpoint)"))"
    }

    /// A granted name whose address is not of the public network, and no grant names that address.
    package init(_ endpoint: NetworkEndpoint, at address: NetworkAddress, _ locality: NetworkAddress.Locality) {
        let direct = NetworkEndpoint(host: "\(address)", port: endpoint.port)
        description =
            "\(endpoint.host) has the address \(address), \(locality.rawValue), which is reached only where it is granted itself; "
            + Self.remedy("\(direct)")
    }

    /// A target that another one redirects to.
    package init(redirectingFrom endpoint: NetworkEndpoint, _ denial: NetworkDenial) {
        description = "\(endpoint) redirects: \(denial.description)"
    }

    private static func remedy(_ grant: String) -> String {
        let grant = VisibleText.line(grant)
        return "--allow-net \(grant) grants it, or cubby config grant net \(grant)"
    }
}

/// The part of the sandbox's first fence that checks connections of the host's own functions for scripts: their host and
/// their port, and the address that is really connected to.
///
/// Sendable: the addresses are checked on the thread that connects.
package final class NetworkFence: Sendable {
    private let state: Mutex<[NetworkGrant]>
    /// Whether everything is permitted, for tests of the kernel's fence.
    private let isOpen: Bool

    /// - Parameters:
    ///   - grants: what may be connected to.
    ///   - isOpen: whether everything may, as far as this fence goes.
    package init(_ grants: [NetworkGrant] = [], isOpen: Bool = false) {
        state = Mutex(grants)
        self.isOpen = isOpen
    }

    package var grants: [NetworkGrant] { state.withLock(\.self) }

    /// The ports of all grants: what the kernel's fence leaves open.
    package var ports: Set<Int> { Set(grants.flatMap(\.ports)) }

    /// Grants a target to which the user consented.
    package func grant(_ grant: NetworkGrant) {
        state.withLock { if !$0.contains(grant) { $0.append(grant) } }
    }

    /// Whether a grant names a target.
    package func permits(_ endpoint: NetworkEndpoint) -> Bool {
        isOpen || state.withLock { $0.contains { $0.covers(endpoint) } }
    }

    /// Checks a target before its name is resolved.
    ///
    /// - Throws: `NetworkDenial` that names the missing grant.
    package func check(_ endpoint: NetworkEndpoint) throws(NetworkDenial) {
        guard permits(endpoint) else { throw NetworkDenial(endpoint) }
    }

    /// Checks the address of a connection to a permitted target. A name gives access to machines of the public network
    /// alone, whatever it resolves to at this moment; to this machine and to those of private networks only a grant of
    /// the address does, or of `localhost` to this one.
    ///
    /// - Parameters:
    ///   - address: the address.
    ///   - endpoint: the target that was resolved to it.
    /// - Throws: `NetworkDenial` that names the missing grant.
    package func check(_ address: NetworkAddress, of endpoint: NetworkEndpoint) throws(NetworkDenial) {
        if isOpen { return }
        if endpoint.host == "localhost", address.isLoopback, permits(endpoint) { return }
        guard let locality = address.locality else { return try check(endpoint) }
        guard permits(NetworkEndpoint(host: "\(address)", port: endpoint.port)) else {
            throw NetworkDenial(endpoint, at: address, locality)
        }
    }
}
