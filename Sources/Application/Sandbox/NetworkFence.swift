import Files
import Glibc
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

/// An IP address. An IPv4 address that is written as an IPv6 one (`::ffff:10.0.0.1`) is the IPv4 address.
package struct NetworkAddress: Sendable, Hashable, CustomStringConvertible {
    /// Four bytes, or sixteen.
    private let bytes: [UInt8]

    private init(bytes: [UInt8]) {
        let isMapped = bytes.count == 16 && bytes.starts(with: Self.mapped)
        self.bytes = isMapped ? Array(bytes[12...]) : bytes
    }

    /// An address in its usual notation, without brackets and zone; nil for another text, such as `127.1`.
    package init?(_ text: String) {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            self.init(bytes: withUnsafeBytes(of: four) { Array($0) })
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            self.init(bytes: withUnsafeBytes(of: six) { Array($0) })
        } else {
            return nil
        }
    }

    /// The address and the port of a socket's address; nil for another family than IP's.
    ///
    /// - Parameters:
    ///   - address: the socket's address.
    ///   - count: its size in bytes.
    /// - Returns: both, or nil.
    package static func parse(
        _ address: UnsafeRawPointer, count: Int
    ) -> (address: NetworkAddress, port: Int)? {
        guard count >= MemoryLayout<sockaddr>.size else { return nil }
        switch Int32(address.loadUnaligned(as: sockaddr.self).sa_family) {
        case AF_INET where count >= MemoryLayout<sockaddr_in>.size:
            let socket = address.loadUnaligned(as: sockaddr_in.self)
            return (
                Self(bytes: withUnsafeBytes(of: socket.sin_addr) { Array($0) }), Int(UInt16(bigEndian: socket.sin_port))
            )
        case AF_INET6 where count >= MemoryLayout<sockaddr_in6>.size:
            let socket = address.loadUnaligned(as: sockaddr_in6.self)
            return (
                Self(bytes: withUnsafeBytes(of: socket.sin6_addr) { Array($0) }),
                Int(UInt16(bigEndian: socket.sin6_port))
            )
        default: return nil
        }
    }

    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let isWritten = bytes.withUnsafeBytes { raw in
            inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, raw.baseAddress, &text, socklen_t(text.count)) != nil
        }
        return isWritten ? String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : "?"
    }

    /// What an address belongs to, if that is not the public network.
    package enum Locality: String, Sendable {
        case thisMachine = "an address of this machine"
        case privateNetwork = "an address of a private network"
        case link = "an address of the local link, where clouds have their metadata"
        case reserved = "a reserved address"
        case group = "an address of a group of machines"
    }

    /// Nil for a machine of the public network. An address that carries an IPv4 address (NAT64, 6to4) is local if that
    /// is.
    package var locality: Locality? {
        if let found = bytes.count == 4 ? Self.locality(of: bytes) : localityOfSix { return found }
        return Self.ofThisMachine().contains(self) ? .thisMachine : nil
    }

    /// Whether it is this machine's own by definition: 127.0.0.0/8 or `::1`.
    package var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    private static func locality(of four: [UInt8]) -> Locality? {
        switch (four[0], four[1], four[2]) {
        case (127, _, _), (0, _, _): .thisMachine
        case (10, _, _), (172, 16...31, _), (192, 168, _), (100, 64...127, _): .privateNetwork
        case (169, 254, _): .link
        case (192, 0, 0), (192, 0, 2), (198, 18...19, _), (198, 51, 100), (203, 0, 113), (240..., _, _): .reserved
        case (224...239, _, _): .group
        default: nil
        }
    }

    private var localityOfSix: Locality? {
        if bytes.dropLast().allSatisfy({ $0 == 0 }), bytes[15] <= 1 { return .thisMachine }
        switch (bytes[0], bytes[1]) {
        case (0xFC...0xFD, _): return .privateNetwork
        case (0xFE, 0x80...0xBF): return .link
        case (0xFE, 0xC0...0xFF): return .privateNetwork
        case (0xFF, _): return .group
        case (0x20, 0x02): return Self.locality(of: Array(bytes[2..<6]))
        case (0x00, 0x64) where bytes.starts(with: Self.translated): return Self.locality(of: Array(bytes[12...]))
        case (0x01, 0x00), (0x00, _): return .reserved
        default: return nil
        }
    }

    /// `::ffff:0:0/96`.
    private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    /// `64:ff9b::/96`.
    private static let translated: [UInt8] = [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]

    /// The addresses of the machine's interfaces at present.
    private static func ofThisMachine() -> Set<NetworkAddress> {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var found: Set<NetworkAddress> = []
        var next = first
        while let interface = next?.pointee {
            next = interface.ifa_next
            guard let address = interface.ifa_addr else { continue }
            let isSix = Int32(address.pointee.sa_family) == AF_INET6
            let count = isSix ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
            if let parsed = parse(address, count: count) { found.insert(parsed.address) }
        }
        return found
    }
}
