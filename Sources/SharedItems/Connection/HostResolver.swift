import Files
import Glibc

/// Resolves the addresses of hosts on its own thread: `getaddrinfo` blocks, for seconds when the network is down.
enum HostResolver {
    /// The first address of each host, in the hosts' order; nil for a host without one.
    ///
    /// - Throws: ``PostgresError`` with `timedOut`; the thread then ends on its own.
    static func addresses(
        of hosts: [String], _ deadline: Deadline, _ waiter: any PostgresWaiter
    ) throws(PostgresError) -> [String?] {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw PostgresError(.disconnected, "no pipe for the look-up of host names: error \(errno)")
        }
        let (reading, writing) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(reading) }
        let found = Monitor<[String?]?>(nil)
        let worker = WorkerThread {
            let addresses = hosts.map(address)
            found.change { $0 = addresses }
            close(writing)
        }
        // The thread closes its end of the pipe, which ends the wait.
        while found.change({ $0 == nil }) {
            guard !deadline.hasPassed else {
                throw PostgresError(
                    .timedOut,
                    "the addresses of \(hosts.joined(separator: ", ")) were not found in time: is the network up?")
            }
            _ = try waiter.wait(for: reading, isWriting: false, seconds: deadline.seconds)
        }
        // The thread is about to end. A sandbox that is closed next must not find a second thread.
        _ = worker.join()
        return found.change { $0 } ?? []
    }

    private static func address(_ host: String) -> String? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0, let first = list else { return nil }
        defer { freeaddrinfo(list) }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            getnameinfo(
                first.pointee.ai_addr, first.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
                == 0
        else { return nil }
        return text.withUnsafeBufferPointer { $0.baseAddress.map(String.init(cString:)) }
    }
}
