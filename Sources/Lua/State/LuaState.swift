internal import CLuaShim

/// A Lua state: one world of globals and values, used by one thread at a time.
///
/// The thread may change while no code of the state runs: an actor can own one. Two uses at the same time are for the
/// caller's isolation to prevent, which the compiler checks, as a state is not `Sendable`. A use while code runs on another
/// thread traps.
///
/// Why no error of Lua's can cross a Swift frame: everything that may raise runs in `CLuaShim`, inside a protected call;
/// what Swift calls directly cannot raise, or only for want of memory, which the allocator never refuses to Swift (it
/// counts the debt, and the VM's own next allocation fails instead).
public final class LuaState {
    /// What an interrupted chunk does next.
    public enum InterruptDecision {
        case goOn
        /// Raises the error in every frame, so that no `pcall` can go on, until the protected call that was the
        /// `depth`-th to be entered has ended (1: the outermost).
        case stop(LuaError, depth: Int)
    }

    let host: OpaquePointer
    let releases = LuaReference.ReleaseList()
    /// How many references were taken.
    var referencesTaken: UInt = 0
    private var isClosed = false
    /// The error that last stopped running code: it stops the code of states within as well.
    var stopError: LuaError?
    /// Functions, accessors and classes that live as long as the state: the shim holds them by address.
    private var retained: [AnyObject] = []
    private(set) var errorClass: LuaClass<LuaErrorObject>?
    /// The error that was last raised as a string, so that it comes back to Swift as itself.
    var raisedAsText: (message: String, error: any Error)?

    /// Stops or pauses the running code, from any thread.
    public let interrupter: LuaInterrupter

    /// What to do when the running code was interrupted. It runs between two instructions.
    ///
    /// When a function of this state evaluates code in another state, it runs between two instructions of that one; if it
    /// answers `stop`, the code of both ends with the error.
    public var interruptHandler: (LuaInterrupter.Reason) -> InterruptDecision = { _ in .goOn }

    /// What was declared to this state, for help, completion and the reference.
    public private(set) var declarations = LuaDeclarations()

    /// Opens a state with Lua's standard libraries, narrowed: no bytecode, no finalizers, no `debug` beyond tracebacks.
    public init(limits: LuaLimits = LuaLimits()) throws(LuaError) {
        var callbacks = luaCallbacks
        guard let host = clua_open(&callbacks, nil, 0) else {
            throw LuaError(.memory, "not enough memory for a Lua state")
        }
        self.host = host
        interrupter = LuaInterrupter(host)
        clua_set_owner(host, Unmanaged.passUnretained(self).toOpaque())
        let L = current
        for library in ["_G", "coroutine", "table", "string", "math", "utf8", "os", "io", "debug"] {
            let status = clua_openlib(L, library)
            guard status == 0 else { throw takeError(status, on: L, top: 0) }
            clua_settop(L, 0)
        }
        let status = clua_narrow(L)
        guard status == 0 else { throw takeError(status, on: L, top: 0) }
        errorClass = makeErrorClass()
        errorClass?.becomePartOfState()
        clua_set_limit(host, limits.memory ?? 0)
        clua_set_output_limit(host, limits.output.map { max($0, 1) } ?? 0)
    }

    deinit { close() }

    /// Ends the state: its values are gone, the objects that only it held are released. Idempotent.
    ///
    /// The last reference that goes ends it, too, on the thread where that happens: there the objects are released. A
    /// function declared to it that keeps the state, or a class, module or value of it, is such a reference, so a state with
    /// functions of that kind has to be closed.
    ///
    /// - Precondition: no code of it runs, on any thread.
    public func close() {
        guard !isClosed else { return }
        checkUse()
        precondition(clua_depth(host) == 0, "a LuaState cannot be closed while its code runs")
        isClosed = true
        interrupter.invalidate()
        clua_close(host)
        // All that may lead back to the state.
        retained = []
        errorClass = nil
        raisedAsText = nil
        stopError = nil
        interruptHandler = { _ in .goOn }
    }

    /// Keeps an object that the shim knows by address alive as long as the state.
    func retain(_ object: AnyObject) -> UnsafeMutableRawPointer {
        retained.append(object)
        return Unmanaged.passUnretained(object).toOpaque()
    }

    func declare(_ declaration: LuaDeclaration) { declarations.add(declaration) }

    func update(_ name: String, _ kind: LuaDeclaration.Kind? = nil, _ change: (inout LuaDeclaration) -> Void) {
        declarations.update(name, kind, change)
    }

    // MARK: Entering

    /// The coroutine that runs now: where Swift's values go.
    var current: OpaquePointer {
        checkUse()
        return clua_current(host)
    }

    /// Traps where going on would be undefined behaviour: the state is closed, or its code runs on another thread.
    @inline(__always)
    func checkUse() {
        precondition(!isClosed, "the LuaState is closed: its values cannot be used any more")
        precondition(clua_use(host) != 0, "code of this LuaState runs on another thread: one at a time may use it")
    }

    /// The current stack, with room; what was dropped elsewhere is given back first.
    func enter(room: Int) throws(LuaError) -> OpaquePointer {
        let L = current
        for slot in releases.take() { clua_unref(L, slot) }
        guard clua_checkstack(L, Int32(clamping: room)) != 0 else {
            throw LuaError(.memory, "stack overflow: too many values at once (\(room))")
        }
        return L
    }

    /// Protected calls that are now active: 0 when no Lua code runs.
    public var depth: Int {
        checkUse()
        return Int(clua_depth(host))
    }

    // MARK: Chunks and globals

    /// Compiles a chunk of text.
    ///
    /// - Parameters:
    ///   - source: Lua text; bytecode is refused.
    ///   - name: as Lua's: `@` before a file's name, `=` before a name that is shown as it is.
    ///   - environment: the table of the chunk's globals; nil for the state's own.
    /// - Returns: the chunk as a function, not called yet.
    /// - Throws: an error of kind `syntax`, incomplete when more lines could make it a chunk, or `memory`.
    public func load(
        _ source: some Collection<UInt8>, name: String, environment: LuaTable? = nil
    ) throws(LuaError) -> LuaFunction {
        let L = try enter(room: 4)
        let base = clua_gettop(L)
        let bytes = Array(source)
        let status = bytes.withUnsafeBytes { raw in
            clua_load(L, raw.baseAddress?.assumingMemoryBound(to: CChar.self) ?? emptyBytes, raw.count, name)
        }
        guard status == 0 else { throw takeError(status, on: L, top: base) }
        if let environment {
            push(environment.reference, on: L)
            _ = clua_setupvalue(L, -2, 1)
        }
        return LuaFunction(state: self, reference: takeReference(on: L))
    }

    /// The table of globals.
    public var globals: LuaTable {
        let L = current
        clua_pushglobals(L)
        return LuaTable(state: self, reference: takeReference(on: L))
    }

    public func makeTable(array: Int = 0, fields: Int = 0) -> LuaTable {
        let L = current
        clua_createtable(L, Int32(clamping: array), Int32(clamping: fields))
        return LuaTable(state: self, reference: takeReference(on: L))
    }

    /// A coroutine that will run `function` when it is first resumed.
    public func makeThread(_ function: LuaFunction) -> LuaThread {
        let L = current
        let thread = clua_newthread(L)
        let reference = takeReference(on: L)
        // A new coroutine's stack has room for the function: Lua guarantees 20 slots.
        let co = thread ?? L
        push(function.reference, on: co)
        return LuaThread(state: self, reference: reference, L: co)
    }

    /// The text that `tostring` gives, or a note that it failed; runs `__tostring`.
    public func describe(_ value: LuaValue) -> LuaString {
        let L = current
        let base = clua_gettop(L)
        defer { clua_settop(L, base) }
        push(value, on: L)
        guard clua_tolstring(L, -1) == 0, case .string(let text) = self.value(at: -1, on: L) else {
            return "(tostring failed)"
        }
        return text
    }

    /// Lua's `==`, metamethods included; false when they raise.
    public func areEqual(_ a: LuaValue, _ b: LuaValue) -> Bool {
        let L = current
        let base = clua_gettop(L)
        defer { clua_settop(L, base) }
        push(a, on: L)
        push(b, on: L)
        var result: Int32 = 0
        return clua_compare(L, -2, -1, 0, &result) == 0 && result != 0
    }

    /// Reads a field of any value, metamethods included: `file.lines`.
    public func field(_ name: String, of value: LuaValue) throws(LuaError) -> LuaValue {
        let L = try enter(room: 6)
        let base = clua_gettop(L)
        push(value, on: L)
        let status = clua_getfield(L, -1, name)
        guard status == 0 else { throw takeError(status, on: L, top: base) }
        defer { clua_settop(L, base) }
        return self.value(at: -1, on: L)
    }

    /// Has what reads standard input call a function first, which may yield: it waits until there is something to read.
    ///
    /// - Throws: ``LuaError`` when the state has no memory left.
    public func waitForInput(_ wait: LuaFunction) throws(LuaError) {
        let L = try enter(room: 6)
        let base = clua_gettop(L)
        push(.function(wait), on: L)
        let status = clua_waitforinput(L)
        guard status == 0 else { throw takeError(status, on: L, top: base) }
    }

    /// One of Lua's own file objects on a descriptor, which it closes; nil when it can't, and the descriptor stays open.
    public func makeFile(_ descriptor: Int32, mode: String) -> LuaValue? {
        let L = current
        guard clua_checkstack(L, 6) != 0, clua_pushfile(L, descriptor, mode) != 0 else { return nil }
        defer { clua_settop(L, -2) }
        return value(at: -1, on: L)
    }

    /// The same for a pipe to or from a program; closing it waits for the program's end and gives what `os.execute` does.
    public func makeFile(_ descriptor: Int32, mode: String, process: Int32) -> LuaValue? {
        let L = current
        guard clua_checkstack(L, 6) != 0, clua_pushprogram(L, descriptor, mode, process) != 0 else { return nil }
        defer { clua_settop(L, -2) }
        return value(at: -1, on: L)
    }

    /// The function that opens a C module. Its code is as free as the host's own: it knows no fence and no limit.
    ///
    /// - Parameters:
    ///   - path: of the shared library.
    ///   - symbol: of the function, `luaopen_lfs`.
    /// - Returns: the function, not called yet.
    /// - Throws: an error of kind `runtime` with the system's words.
    public func loadNative(_ path: String, symbol: String) throws(LuaError) -> LuaFunction {
        let L = try enter(room: 4)
        var message = [CChar](repeating: 0, count: 1024)
        guard clua_pushnative(L, path, symbol, &message, message.count) != 0 else {
            let text = message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw LuaError(.runtime, String(decoding: text, as: UTF8.self))
        }
        return LuaFunction(state: self, reference: takeReference(on: L))
    }

    // MARK: Memory and time

    /// Bytes that Lua has now, and had at most.
    public var memory: (used: Int, peak: Int, limit: Int?) {
        checkUse()
        let limit = clua_limit(host)
        return (clua_used(host), clua_peak(host), limit == 0 ? nil : limit)
    }

    /// A full collection; the objects it frees are released before this returns.
    public func collectGarbage() {
        _ = current
        clua_collect(host)
        clua_drain_releases(host)
    }

    /// Objects of the host that Lua holds.
    public var liveObjects: Int {
        checkUse()
        return clua_live_objects(host)
    }

    /// Seconds from now after which the running code is interrupted with `.deadline`, again every 10 ms until it is turned
    /// off with nil.
    public func setDeadline(_ seconds: Double?) {
        checkUse()
        clua_set_deadline(host, max(seconds ?? 0, 0))
    }

    // MARK: Output

    /// Bytes that scripts have written, or tried to, since the last `resetOutput()`.
    public var output: Int {
        checkUse()
        return clua_output(host)
    }

    /// The count begins anew, and what was dropped is written again.
    public func resetOutput() {
        checkUse()
        clua_reset_output(host)
    }

    /// For a host's own `print`: counts what it is about to write.
    ///
    /// - Returns: false when the limit was passed before: nothing is to be written.
    /// - Throws: once, when these bytes pass it.
    public func countOutput(_ bytes: Int) throws(LuaError) -> Bool {
        checkUse()
        switch clua_count_output(host, bytes) {
        case CLUA_OUTPUT_FITS: return true
        case CLUA_OUTPUT_RAISES:
            let limit = clua_output_limit(host)
            throw LuaError(.runtime, "output limit reached (\(limit) bytes): what follows is dropped")
        default: return false
        }
    }

    /// What the error that refuses a metatable with `__gc` offers beside `__close`.
    package func setFinalizerHint(_ text: StaticString) {
        checkUse()
        text.withUTF8Buffer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { clua_set_finalizer_hint(host, $0.baseAddress) }  // it ends with 0
        }
    }

    /// Tests: makes the n-th allocation of the VM from now fail, `count` in all (0: without end); an n of 0 turns that off.
    /// Lua tries each again after a full collection: a count of 1 is that alone, 2 is an error.
    ///
    /// - Returns: how many were asked for since the last call.
    @discardableResult
    package func failAllocation(_ n: Int, count: Int = 0) -> Int {
        checkUse()
        return Int(clua_fail_allocation(host, UInt(n), UInt(count)))
    }

    /// Reasons, but for a deadline, that the running code has not looked at yet: a host's own function is at work, where no
    /// hook fires.
    public var pendingInterrupts: LuaInterrupter.Reason {
        checkUse()
        return LuaInterrupter.Reason(rawValue: clua_pending(host))
    }
}

/// An address for zero bytes.
nonisolated(unsafe) private let emptyBytes: UnsafePointer<CChar> = {
    // Never written to and never freed: one byte for the life of the process.
    let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    byte.initialize(to: 0)
    return UnsafePointer(byte)
}()
