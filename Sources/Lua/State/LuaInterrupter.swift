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

    /// A number that changes whenever the running code serves interrupts.
    package var beats: Int {
        host.withLock { address in OpaquePointer(bitPattern: address).map { Int(clua_beats($0)) } ?? 0 }
    }

    /// What the state's thread runs now: a function and the line that called it. Asks that thread by a signal.
    ///
    /// - Parameter seconds: the longest wait for its answer.
    /// - Returns: nil without an answer, or if no code runs.
    package func place(within seconds: Double) -> String? {
        host.withLock { address in
            guard let host = OpaquePointer(bitPattern: address) else { return nil }
            var text = [CChar](repeating: 0, count: 256)
            let count = clua_ask_place(host, &text, text.count, Int32(seconds * 1000))
            return count > 0 ? String(decoding: text[..<Int(count)].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
        }
    }

    func invalidate() { host.withLock { $0 = 0 } }
}
