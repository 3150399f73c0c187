import Application
import Glibc
import Lua
import Synchronization

/// What an attached prompt sent, read by a thread of its own: an interrupt must reach a script that never waits.
final class AttachInbox: Sendable {
    private struct State: Sendable {
        var entries: [AttachMessage] = []
        var interrupts = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Begins to read.
    ///
    /// - Parameters:
    ///   - notifier: told of each message.
    ///   - interrupter: makes a running script look.
    /// - Returns: false when there can be no further thread.
    func start(_ notifier: EventNotifier, _ interrupter: LuaInterrupter) -> Bool {
        final class Work: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        let work = Work { [self] in
            while let message = AttachMessage.receive(from: descriptor) {
                state.withLock { state in
                    if message.kind == .interrupt { state.interrupts += 1 } else { state.entries.append(message) }
                }
                notifier.notify()
                interrupter.interrupt(message.kind == .interrupt ? [.events, .urgent] : .events)
            }
            state.withLock { $0.isClosed = true }
            notifier.notify()
            interrupter.interrupt(.events)
        }
        var thread = pthread_t()
        let box = Unmanaged.passRetained(work)
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        guard result == 0 else {
            box.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }
    var hasEntries: Bool { state.withLock { !$0.entries.isEmpty } }

    func nextEntry() -> AttachMessage? {
        state.withLock { $0.entries.isEmpty ? nil : $0.entries.removeFirst() }
    }

    /// Whether an interrupt came since the last time.
    func takeInterrupt() -> Bool {
        state.withLock { state in
            defer { state.interrupts = 0 }
            return state.interrupts > 0
        }
    }
}
