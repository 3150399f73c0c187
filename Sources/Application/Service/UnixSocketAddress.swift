package import Glibc

/// The address of a Unix socket in the kernel's layout.
package struct UnixSocketAddress {
    private var raw = sockaddr_un()
    private let length: socklen_t

    /// - Parameter path: a path, or a name in the abstract namespace after an `@`; nil is returned for one that is too
    ///   long.
    package init?(_ path: String) {
        let bytes = Array(path.utf8)
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        guard !bytes.isEmpty, bytes.count < MemoryLayout<sockaddr_un>.size - offset else { return nil }
        raw.sun_family = sa_family_t(AF_UNIX)
        let isAbstract = bytes[0] == UInt8(ascii: "@")
        withUnsafeMutableBytes(of: &raw.sun_path) { target in
            for (index, byte) in bytes.enumerated() { target[index] = byte }
            if isAbstract { target[0] = 0 }
        }
        // An abstract name ends with its length, a path with a NUL.
        length = socklen_t(offset + bytes.count + (isAbstract ? 0 : 1))
    }

    /// Calls a function with the address: bind, connect.
    package func pass(to body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: raw) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
