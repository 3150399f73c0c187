import Glibc

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
