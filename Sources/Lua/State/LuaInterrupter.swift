internal import CLuaShim
internal import Synchronization

/// Interrupts the running code of a state, from any thread.
public final class LuaInterrupter: Sendable {
    /// The reason; several may be pending at once.
    public struct Reason: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The host has pending events; the chunk continues afterwards.
        public static let events = Reason(rawValue: Int(CLUA_INTERRUPT_EVENTS))
        /// Cancels the running code; has no effect without running code.
        public static let cancel = Reason(rawValue: Int(CLUA_INTERRUPT_CANCEL))
        /// The chunk's deadline has passed.
        public static let deadline = Reason(rawValue: Int(CLUA_INTERRUPT_DEADLINE))
        /// Scripts use more than three quarters, or seven eighths, of `LuaLimits.memory`, garbage included.
        public static let memory = Reason(rawValue: Int(CLUA_INTERRUPT_MEMORY))
        /// A profiler samples the call stack: ``LuaState/sampler``.
        package static let sample = Reason(rawValue: Int(CLUA_INTERRUPT_SAMPLE))
        /// A pending reason will probably cancel the chunk: a long host function should return early.
        public static let urgent = Reason(rawValue: Int(CLUA_INTERRUPT_URGENT))
    }

    // Guarded by the mutex: the host's address while it is open. Unlike a pointer, an integer is Sendable.
    private let host: Mutex<UInt>

    init(_ host: OpaquePointer) { self.host = Mutex(UInt(bitPattern: host)) }

    /// Makes the VM call the state's `interruptHandler` before its next instruction.
    public func interrupt(_ reason: Reason) {
        host.withLock { address in
            guard let host = OpaquePointer(bitPattern: address) else { return }
            clua_interrupt(host, Int32(truncatingIfNeeded: reason.rawValue))
        }
    }

    func invalidate() { host.withLock { $0 = 0 } }
}
