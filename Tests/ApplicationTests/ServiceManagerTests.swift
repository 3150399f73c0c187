import Application
import Files
import Foundation
import Glibc
import TestSupport
import Testing

/// The protocol of `sd_notify`, with a socket in the place of the manager's.
@Suite("ServiceManager") struct ServiceManagerTests {
    /// A manager's socket, by a path or an abstract name.
    private final class Manager {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)

        init(_ name: String) throws {
            let address = try #require(UnixSocketAddress(name))
            // A guard against a message that does not come.
            var limit = timeval(tv_sec: 60, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            let bound = address.pass { bind(descriptor, $0, $1) }
            try #require(bound == 0, "\(String(cString: strerror(errno)))")
        }

        deinit { close(descriptor) }

        /// The next message; nil if there is none.
        func next() -> String? {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
        }
    }

    @Test("each message is a datagram, to a path or an abstract name") func messages() throws {
        let scratch = try TemporaryDirectory()
        for name in [scratch.file("notify"), "@cubby-test-\(getpid())-\(UInt32.random(in: 0 ... .max))"] {
            let manager = try Manager(name)
            let service = ServiceManager { $0 == "NOTIFY_SOCKET" ? name : nil }
            service.notify("READY=1\nSTATUS=active")
            service.notify("STOPPING=1")
            #expect(manager.next() == "READY=1\nSTATUS=active")
            #expect(manager.next() == "STOPPING=1")
            #expect(manager.next() == nil)
        }
    }

    @Test("a manager that reads slowly misses nothing") func slowManager() throws {
        let scratch = try TemporaryDirectory()
        let manager = try Manager(scratch.file("notify"))
        // More than the kernel queues.
        let count = 600
        let reader = WorkerThread { [descriptor = manager.descriptor] in
            var messages: [String] = []
            var buffer = [UInt8](repeating: 0, count: 64)
            while messages.last != "\(count)" {
                let length = recv(descriptor, &buffer, buffer.count, 0)
                if length < 0 { break }
                messages.append(String(decoding: buffer[..<length], as: UTF8.self))
            }
            return messages
        }
        let service = ServiceManager { $0 == "NOTIFY_SOCKET" ? scratch.file("notify") : nil }
        for number in 1...count { service.notify("\(number)") }
        #expect(reader.join() == (1...count).map { "\($0)" })
    }

    @Test(
        "without a manager, or with one that is gone, nothing happens", arguments: [nil, "", "relative", "/nowhere/x"])
    func absent(name: String?) {
        ServiceManager { $0 == "NOTIFY_SOCKET" ? name : nil }.notify("READY=1")
    }

    @Test("a sign of life twice in the time of the watchdog, if it is for this process") func watchdog() {
        func interval(_ variables: [String: String]) -> Double? { ServiceManager { variables[$0] }.watchdogInterval }
        #expect(interval([:]) == nil)
        #expect(interval(["WATCHDOG_USEC": "3000000"]) == 1.5)
        #expect(interval(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "\(getpid())"]) == 1.5)
        #expect(interval(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"]) == nil)
        for text in ["", "0", "-1", "soon", "99999999999999999999"] {
            #expect(interval(["WATCHDOG_USEC": text]) == nil, "\(text)")
        }
    }
}
