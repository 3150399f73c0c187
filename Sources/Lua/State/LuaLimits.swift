internal import CLuaShim
internal import Synchronization

/// Limits of a state's scripts.
public struct LuaLimits: Sendable {
    /// Maximum bytes of Lua's allocator; nil for no limit. A script beyond it gets an error; the host continues.
    ///
    /// It also holds for values of the host: an argument, a result of a registered function, a global that does not fit
    /// is an error before it is there. A value that the host assigns without an error, such as by a subscript, is
    /// dropped, and the next call into Lua throws. What a run returns takes no more memory in Swift, either.
    public var memory: Int?

    /// Maximum bytes of output by `print`, `io.write` and the standard streams; nil for no limit. The first
    /// write beyond it raises an error; later ones are dropped until `LuaState.resetOutput()`.
    public var output: Int?

    /// Maximum number of active calls, including host and library functions, and coroutines that have resumed one
    /// another; nil for Lua's own limits. A call beyond it raises an error that `pcall` catches, without running a
    /// message handler in Lua. Tail calls replace their caller. A limit makes calls slower.
    public var callDepth: Int?

    /// The limits of each conversion between Lua and Swift.
    public var conversion = LuaConversionLimits()

    /// Creates limits; none by default, except those of a conversion.
    public init(
        memory: Int? = nil, output: Int? = nil, callDepth: Int? = nil,
        conversion: LuaConversionLimits = LuaConversionLimits()
    ) {
        self.memory = memory
        self.output = output
        self.callDepth = callDepth
        self.conversion = conversion
    }
}

/// Limits of one conversion: of a run's result, an argument, a global.
///
/// A table or a string that occurs several times is decoded once for each type, unless the type is a class, but counts
/// each time: a few tables that contain each other can stand for 2^40 values.
public struct LuaConversionLimits: Sendable {
    /// Maximum number of values, those of tables included.
    package var values: Int

    /// Maximum number of bytes of strings.
    package var bytes: Int

    /// Maximum depth of tables, and of Swift types.
    package var depth: Int

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - values: the number of values, those of tables included; 16,777,216 if not given.
    ///   - bytes: the bytes of strings; a gigabyte if not given.
    ///   - depth: the depth of tables, and of Swift types; 100 if not given.
    public init(values: Int = 1 << 24, bytes: Int = 1 << 30, depth: Int = 100) {
        self.values = values
        self.bytes = bytes
        self.depth = depth
    }
}

/// Accounts for memory used by scripts: Lua's own, and the host's charges.
extension LuaState {
    /// Checks that scripts may use this many more bytes; if not, collects garbage and checks again.
    ///
    /// The allocator never refuses memory to the host but records the excess as debt, so a host must check before a
    /// large allocation for a script.
    ///
    /// - Parameter bytes: the size of the allocation.
    /// - Throws: an error of kind `memory` if the limit would be exceeded.
    package func checkCapacity(for bytes: Int) throws(LuaError) {
        checkUse()
        let limit = clua_limit(host)
        guard limit > 0, clua_used(host) > limit - min(max(bytes, 0), limit) else { return }
        collectGarbage()
        // A margin, so that the next check does not collect again.
        guard clua_used(host) > limit - limit / 32 - min(max(bytes, 0), limit - limit / 32) else { return }
        throw notEnoughMemory
    }

    /// Throws if a value that was pushed since the last entry did not fit into the memory limit.
    func checkDenial() throws(LuaError) {
        checkUse()
        guard clua_take_denial(host) != 0 else { return }
        throw notEnoughMemory
    }

    /// Forgets a refused value, of which another error tells.
    func takeDenial() -> Bool { clua_take_denial(host) != 0 }

    /// Whether the host may push this many more bytes. If not, they count as refused.
    func admits(_ bytes: Int) -> Bool { clua_reserve(current, bytes) != 0 }

    /// Whether a pushed value was refused: what follows is refused, too, until an error says so.
    var isRefusing: Bool { clua_is_refusing(host) != 0 }

    /// The error of scripts that exceed the memory limit.
    var notEnoughMemory: LuaError {
        var error = LuaError(.memory, "not enough memory")
        if clua_denied_limit(host) > 0 {
            error.message += " (the environment's limit is \(Self.size(clua_denied_limit(host))))"
        } else if let limit = memory.limit {
            error.message += " (the limit is \(Self.size(limit)))"
        }
        return error
    }

    private static func size(_ bytes: Int) -> String {
        bytes < 1_048_576 ? "\(bytes / 1024) KB" : "\(bytes / 1_048_576) MB"
    }
}

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
        package static let memory = Reason(rawValue: Int(CLUA_INTERRUPT_MEMORY))
        /// A profiler samples the call stack: ``LuaState/sampler``.
        package static let sample = Reason(rawValue: Int(CLUA_INTERRUPT_SAMPLE))
        /// A pending reason will probably cancel the chunk: a long host function should return early.
        package static let urgent = Reason(rawValue: Int(CLUA_INTERRUPT_URGENT))
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
