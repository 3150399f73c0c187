internal import CLuaShim
internal import Synchronization

/// Stops or pauses what a state is running, from any thread.
public final class LuaInterrupter: Sendable {
    /// Why; several may be pending at once.
    public struct Reason: OptionSet, Sendable {
        public let rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// The host has events to look at; the chunk goes on afterwards.
        public static let events = Reason(rawValue: CLUA_INTERRUPT_EVENTS)
        /// The code that runs now is to be stopped. Requested while none runs, it does not affect what runs later.
        public static let cancel = Reason(rawValue: CLUA_INTERRUPT_CANCEL)
        /// The chunk's time is up.
        public static let deadline = Reason(rawValue: CLUA_INTERRUPT_DEADLINE)
        /// Scripts use more than three quarters, or seven eighths, of `LuaLimits.memory`: garbage may be among it.
        public static let memory = Reason(rawValue: CLUA_INTERRUPT_MEMORY)
        /// What else is pending is likely to stop the chunk: a host's function that takes long gives up.
        public static let urgent = Reason(rawValue: CLUA_INTERRUPT_URGENT)
    }

    // Guarded by the mutex: the host's address while it is open. An address in a word is Sendable, the pointer is not.
    private let host: Mutex<UInt>

    init(_ host: OpaquePointer) { self.host = Mutex(UInt(bitPattern: host)) }

    /// Makes the VM call the state's `interruptHandler` at its next instruction.
    public func interrupt(_ reason: Reason) {
        host.withLock { address in
            guard let host = OpaquePointer(bitPattern: address) else { return }
            clua_interrupt(host, reason.rawValue)
        }
    }

    func invalidate() { host.withLock { $0 = 0 } }
}
