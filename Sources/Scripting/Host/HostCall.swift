import Lua
import Synchronization

/// A call of a script's function from another thread. It ends once: with the function, or when the application ends.
final class HostCall: Sendable {
    let function: LuaReference
    /// Its time limit in seconds; nil for the host's.
    let seconds: Double?
    let encode: @Sendable (LuaState) throws -> [LuaValue]
    /// Takes the result, and what gives the error for a conversion that has to stop.
    typealias Handler = @Sendable (Result<LuaValue, any Error>, _ stopError: () -> LuaError?) -> Void
    private let handler = Mutex<Handler?>(nil)
    private let isCancelRequested = Atomic<Bool>(false)

    init(
        _ function: LuaReference, seconds: Double?, encode: @escaping @Sendable (LuaState) throws -> [LuaValue]
    ) {
        self.function = function
        self.seconds = seconds
        self.encode = encode
    }

    var isCancelled: Bool { isCancelRequested.load(ordering: .acquiring) }

    func cancel() { isCancelRequested.store(true, ordering: .releasing) }

    /// Sets the function that takes the result.
    func onEnd(_ handler: @escaping Handler) {
        self.handler.withLock { $0 = handler }
    }

    func end(_ result: Result<LuaValue, any Error>, stopError: () -> LuaError? = { nil }) {
        let handler = handler.withLock { handler in
            defer { handler = nil }
            return handler
        }
        handler?(result, stopError)
    }
}
