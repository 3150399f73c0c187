import Glibc
import Synchronization

/// A thread of one's own, for what the kernel does to single threads.
package final class OwnThread: Sendable {
    private let body: @Sendable () -> Void

    private init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Runs a closure on a thread that ends with it, or on some at once, and waits.
    ///
    /// - Parameters:
    ///   - count: how many threads.
    ///   - stackSize: of each, in bytes; nil for the system's own.
    ///   - body: what they run.
    package static func run(times count: Int = 1, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
        let threads = (0..<count).map { _ in
            var thread = pthread_t()
            let box = Unmanaged.passRetained(OwnThread(body))
            pthread_create(
                &thread, &attributes,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<OwnThread>.fromOpaque(argument).takeRetainedValue().body()
                    return nil
                }, box.toOpaque())
            return thread
        }
        for thread in threads { pthread_join(thread, nil) }
    }
}
