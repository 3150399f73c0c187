internal import CLuaShim
@_exported import Wording

/// A Lua state: globals and values, used by one thread at a time.
///
/// The thread may change while no code of the state runs, so an actor can own a state. A state is not `Sendable`, so
/// the compiler prevents concurrent use. Using it while its code runs on another thread traps.
///
/// No Lua error crosses a Swift frame: functions that can raise run in `CLuaShim`, inside a protected call. Functions
/// that Swift calls directly can only raise for lack of memory, and the allocator never refuses memory to Swift: it
/// records the excess as debt, and the VM's next allocation fails instead.
public final class LuaState {
    /// The action after an interrupt.
    public enum InterruptDecision {
        /// The code continues.
        case resume
        /// Raises the error in every frame, ignoring every `pcall`, until the `depth`-th entered protected call has
        /// ended (1: the outermost). Variables are closed on the way, except those of a script's own coroutine that is
        /// stopped where Lua cannot yield, such as in a function called by `table.sort`: its closing could not be
        /// stopped.
        case stop(LuaError, depth: Int)
    }

    let host: OpaquePointer
    let releases = LuaReference.ReleaseList()
    /// The number of references taken.
    private var referencesTaken: UInt = 0
    private var isClosed = false
    /// Whether objects that Lua has collected are being released, whose `deinit` may be any code.
    private var isReleasing = false
    /// The limits in force.
    private(set) var limits = LuaLimits()
    private var account: MemoryAccount?
    var errors = LuaErrorState()
    /// Functions, accessors and classes that live as long as the state: the shim holds their addresses.
    private var retained: [AnyObject] = []
    /// The conversion of an argument that is under way.
    private var conversion: DecodingSession?
    /// The classes of ``LuaObject`` types, by type.
    private var objectClasses: [ObjectIdentifier: any DeclaredClass] = [:]

    /// Interrupts the running code, from any thread.
    public let interrupter: LuaInterrupter

    /// Handles an interrupt, between two instructions.
    ///
    /// If a function of this state evaluates code in another state, the handler is also called between two instructions
    /// of that code; `stop` ends the code of both states with the error. Unless it is set, the code ends at its deadline
    /// and when it is cancelled.
    public var interruptHandler: (LuaInterrupter.Reason) -> InterruptDecision = { _ in .resume }

    /// Called after an interrupt with `sample`: between two instructions, and at the return of a native function.
    package var sampler: (() -> Void)?

    /// Calls functions that scripts pass to Swift; nil if no thread serves the calls.
    package weak var functionCaller: (any LuaFunctionCaller)?

    /// What a class has in the place of a member that it has not, for the error: a text as `; here it is …`; nil for none.
    package var memberHint: (_ className: String, _ member: String) -> String? = { _, _ in nil }

    /// Makes a call wait for a task; nil if nothing serves the waiting script.
    package var waiter: ((LuaCall, @escaping LuaOperation) throws -> LuaResults)?

    /// The debugger, if it was used.
    private(set) var debuggerInUse: LuaDebugger?

    /// The debugger of the scripts.
    package var debugger: LuaDebugger {
        let debugger = debuggerInUse ?? LuaDebugger(self)
        debuggerInUse = debugger
        return debugger
    }

    /// Whether running code is being stopped: until it has ended, calls into Lua fail.
    package var isUnwinding: Bool {
        checkUse()
        return clua_is_unwinding(host) != 0
    }

    /// The declarations, for help, completion and the reference.
    package private(set) var declarations = LuaDeclarations()

    /// Opens a state with Lua's standard libraries, restricted: no bytecode, no finalizers, only tracebacks of `debug`.
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
        let errorClass = makeErrorClass()
        errorClass.becomePartOfState()
        clua_set_error_class(host, errorClass.pointer)
        errors.objects = errorClass
        interruptHandler = { [unowned self] reasons in
            if reasons.contains(.cancel) { return .stop(LuaError(.cancelled, "the script was cancelled"), depth: 1) }
            guard reasons.contains(.deadline) else { return .resume }
            return .stop(.timeIsUp(limit: nil, at: activeCalls(limit: 16)), depth: 1)
        }
        apply(limits)
    }

    deinit { close() }

    /// Closes the state and releases the objects that only it retains. Idempotent.
    ///
    /// Releasing the last reference closes it as well, on the releasing thread. A declared function that captures the
    /// state, or a class, module or value of it, creates a reference cycle: such a state must be closed.
    ///
    /// - Precondition: no code of the state runs, on any thread.
    public func close() {
        guard !isClosed else { return }
        checkUse()
        precondition(clua_depth(host) == 0 && !isReleasing, "a LuaState cannot be closed while its code runs")
        isClosed = true
        interrupter.invalidate()
        clua_close(host)
        // Breaks all reference cycles with the state.
        retained = []
        errors = LuaErrorState()
        objectClasses = [:]
        waiter = nil
        interruptHandler = { _ in .resume }
        debuggerInUse = nil
        sampler = nil
    }

    /// Retains an object for the lifetime of the state: the shim holds its address.
    func retain(_ object: AnyObject) -> UnsafeMutableRawPointer {
        retained.append(object)
        return Unmanaged.passUnretained(object).toOpaque()
    }

    /// The class of a type; nil until it is made.
    subscript(classOf type: ObjectIdentifier) -> (any DeclaredClass)? {
        get { objectClasses[type] }
        set { objectClasses[type] = newValue }
    }

    /// Runs a part of the conversion that is under way, or a new one.
    func converting<Result>(
        _ start: () -> DecodingSession, _ body: (DecodingSession) throws(LuaMismatch) -> Result
    ) throws(LuaMismatch) -> Result {
        if let conversion { return try body(conversion) }
        let session = start()
        conversion = session
        defer { conversion = nil }
        return try body(session)
    }

    func declare(_ declaration: LuaDeclaration) { declarations.add(declaration) }

    func update(_ name: String, _ kind: LuaDeclaration.Kind? = nil, _ change: (inout LuaDeclaration) -> Void) {
        declarations.update(name, kind, change)
    }

    // MARK: Entering

    /// The running coroutine, whose stack Swift uses for its values.
    var current: OpaquePointer {
        checkUse()
        return clua_current(host)
    }

    /// Traps instead of undefined behaviour: the state is closed, or its code runs on another thread.
    @inline(__always)
    func checkUse() {
        precondition(!isClosed, "the LuaState is closed: its values cannot be used any more")
        precondition(clua_use(host) != 0, "code of this LuaState runs on another thread: one at a time may use it")
    }

    /// Returns the current stack with room for values, after releasing dropped references.
    func enter(capacity: Int) throws(LuaError) -> OpaquePointer {
        let L = current
        for slot in releases.take() { clua_unref(L, slot) }
        guard clua_checkstack(L, Int32(clamping: capacity)) != 0 else {
            throw LuaError(.memory, "stack overflow: too many values at once (\(capacity))")
        }
        return L
    }

    /// The number of active protected calls: 0 when no Lua code runs.
    package var depth: Int {
        checkUse()
        return Int(clua_depth(host))
    }

    /// Pops the top of the stack into a reference.
    func takeReference(on L: OpaquePointer) -> LuaReference {
        // A host function that makes tables without calling Lua would retain all of them, so dropped references are
        // regularly released here.
        referencesTaken &+= 1
        if referencesTaken & 255 == 0 {
            for slot in releases.take() { clua_unref(L, slot) }
        }
        return LuaReference(slot: clua_ref(L), releases: releases)
    }

    // MARK: Chunks and globals

    /// Compiles a chunk of text.
    ///
    /// - Parameters:
    ///   - source: Lua text; bytecode is refused.
    ///   - name: its name in Lua's notation: `@` before a file's name, `=` before a literal name.
    ///   - environment: the table of the chunk's globals; nil for the state's own.
    /// - Returns: the chunk as a function, not yet called.
    /// - Throws: an error of kind `syntax`, incomplete if more lines could complete the chunk, or `memory`.
    public func load(
        _ source: some Collection<UInt8>, name: String, environment: LuaTable? = nil
    ) throws(LuaError) -> LuaFunction {
        let L = try enter(capacity: 4)
        let base = clua_gettop(L)
        let bytes = Array(source)
        let status = bytes.withUnsafeBytes { raw in
            clua_load(L, raw.baseAddress?.assumingMemoryBound(to: CChar.self) ?? emptyBytes, raw.count, name)
        }
        return try loaded(status, name, environment, on: L, above: base)
    }

    /// Takes a chunk that was loaded onto the stack, or its error.
    func loaded(
        _ status: Int32, _ name: String, _ environment: LuaTable?, on L: OpaquePointer, above base: Int32
    ) throws(LuaError) -> LuaFunction {
        guard status == 0 else { throw takeError(status, on: L, top: base) }
        if let environment {
            push(environment.reference, on: L)
            _ = clua_setupvalue(L, -2, 1)
        }
        let function = LuaFunction(state: self, reference: takeReference(on: L))
        debuggerInUse?.compiled(name, function)
        return function
    }

    /// The table of globals.
    public var globals: LuaTable {
        let L = current
        clua_pushglobals(L)
        return LuaTable(state: self, reference: takeReference(on: L))
    }

    /// Makes an empty table.
    ///
    /// - Parameters:
    ///   - array: the number of elements to reserve memory for.
    ///   - fields: the number of other entries to reserve memory for.
    /// - Returns: the table.
    public func makeTable(array: Int = 0, fields: Int = 0) -> LuaTable {
        let L = current
        clua_createtable(L, Int32(clamping: array), Int32(clamping: fields))
        return LuaTable(state: self, reference: takeReference(on: L))
    }

    /// Makes a table with fields; one whose value is nil is left out.
    package func makeTable(_ fields: KeyValuePairs<String, any LuaRepresentable>) -> LuaTable {
        let table = makeTable(fields: fields.count)
        for (name, value) in fields { table[name] = value.luaValue(in: self) }
        return table
    }

    /// Creates a coroutine, which calls `function` at its first resume.
    package func makeThread(_ function: LuaFunction) -> LuaThread {
        let L = current
        let thread = clua_newthread(L)
        let reference = takeReference(on: L)
        // A new coroutine's stack has room for 20 values.
        let co = thread ?? L
        push(function.reference, on: co)
        clua_pushbody(co)
        return LuaThread(state: self, reference: reference, L: co)
    }

    /// The text of `tostring`, including `__tostring`; a note if that fails.
    public func describe(_ value: LuaValue) -> LuaString {
        let L = current
        let base = clua_gettop(L)
        defer { clua_settop(L, base) }
        push(value, on: L)
        let hasFailed = clua_tolstring(L, -1) != 0
        guard case .string(let text) = self.value(at: -1, on: L) else { return "(tostring failed)" }
        return hasFailed ? LuaString("(tostring failed: \(text))") : text
    }

    /// The number of a numeral, as `tonumber` reads it; nil for another text.
    package func number(ofNumeral text: [UInt8]) -> LuaValue? {
        let L = current
        guard !text.contains(0) else { return nil }
        let isNumber = (text + [0]).withUnsafeBytes {
            clua_pushnumeral(L, $0.baseAddress?.assumingMemoryBound(to: CChar.self)) != 0
        }
        return isNumber ? popValue(on: L) : nil
    }

    /// Lua's `==` with metamethods; false if they raise an error.
    package func areEqual(_ a: LuaValue, _ b: LuaValue) -> Bool {
        let L = current
        let base = clua_gettop(L)
        defer { clua_settop(L, base) }
        push(a, on: L)
        push(b, on: L)
        var result: Int32 = 0
        return clua_compare(L, -2, -1, 0, &result) == 0 && result != 0
    }

    /// Reads a field of any value, with metamethods: `file.lines`.
    package func field(_ name: String, of value: LuaValue) throws(LuaError) -> LuaValue {
        let L = try enter(capacity: 6)
        let base = clua_gettop(L)
        push(value, on: L)
        let status = clua_getfield(L, -1, name)
        guard status == 0 else { throw takeError(status, on: L, top: base) }
        defer { clua_settop(L, base) }
        return self.value(at: -1, on: L)
    }

    /// Loads the entry function of a C module. Native code is not sandboxed or limited.
    ///
    /// - Parameters:
    ///   - path: the path of the shared library.
    ///   - symbol: the name of the function: `luaopen_lfs`.
    /// - Returns: the function, not yet called.
    /// - Throws: an error of kind `runtime` with the system's message.
    package func loadNative(_ path: String, symbol: String) throws(LuaError) -> LuaFunction {
        let L = try enter(capacity: 4)
        var message = [CChar](repeating: 0, count: 1024)
        guard clua_pushnative(L, path, symbol, &message, message.count) != 0 else {
            let text = message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw LuaError(.runtime, String(decoding: text, as: UTF8.self))
        }
        return LuaFunction(state: self, reference: takeReference(on: L))
    }

    // MARK: Memory and time

    /// Bytes in use, their peak, and the limit.
    public var memory: (used: Int, peak: Int, limit: Int?) {
        checkUse()
        let limit = clua_limit(host)
        return (clua_used(host), clua_peak(host), limit == 0 ? nil : limit)
    }

    /// Runs a full collection, also of what only dropped references of Swift keep, and releases the collected objects.
    package func collectGarbage() {
        let L = current
        for slot in releases.take() { clua_unref(L, slot) }
        clua_collect(host)
        clua_drain_releases(host)
    }

    /// Releases the objects that Lua has collected, once none of its code runs.
    func settleReleases() {
        guard !isReleasing else { return }
        isReleasing = true
        clua_settle_releases(host)
        isReleasing = false
    }

    /// The number of host objects that Lua holds.
    package var liveObjects: Int {
        checkUse()
        return clua_live_objects(host)
    }

    /// Whether deadlines can be kept: the system may refuse this process timers.
    package static var keepsTime: Bool { clua_keeps_time() != 0 }

    /// Interrupts the running code with `.deadline` after this time, and then every 10 ms; nil disables it. Without an
    /// ``interruptHandler`` the code ends with an error of kind `deadline`.
    public func setDeadline(_ duration: Duration?) { setDeadline(seconds: duration.map { $0 / .seconds(1) }) }

    /// The same in seconds.
    package func setDeadline(seconds: Double?) {
        checkUse()
        clua_set_deadline(host, max(seconds ?? 0, 0))
    }

    /// Sets the limits for scripts, and resets the count of their output.
    func apply(_ limits: LuaLimits) {
        checkUse()
        self.limits = limits
        clua_set_limit(host, limits.memory ?? 0)
        clua_set_output_limit(host, limits.output.map { max($0, 1) } ?? 0)
        clua_set_call_limit(host, limits.callDepth.map { Int32(clamping: max($0, 1)) } ?? 0)
        clua_reset_output(host)
    }

    /// Sets the alternative to `__gc` that the error for a metatable with `__gc` suggests besides `__close`.
    package func setFinalizerHint(_ text: StaticString) {
        checkUse()
        // A StaticString is zero-terminated.
        text.withUTF8Buffer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { clua_set_finalizer_hint(host, $0.baseAddress) }
        }
    }

    /// For tests: makes the VM's n-th allocation from now fail, `count` in all (0: without end); an n of 0 disables
    /// that. Lua retries each after a full collection: with a count of 1 the retry succeeds, with 2 it raises.
    ///
    /// - Returns: the number of allocations since the last call.
    @discardableResult
    package func failAllocation(_ n: Int, count: Int = 0) -> Int {
        checkUse()
        return Int(clua_fail_allocation(host, UInt(n), UInt(count)))
    }

    /// The unhandled interrupt reasons, without deadlines, for use in a host function, where no hook is called.
    package var pendingInterrupts: LuaInterrupter.Reason {
        checkUse()
        return LuaInterrupter.Reason(rawValue: Int(clua_pending(host)))
    }
}

extension LuaState {
    /// Whether values are still valid.
    var isOpen: Bool { !isClosed }

    /// The account of the environment whose code runs; nil for the state's own.
    var charged: MemoryAccount? { account }

    /// Charges an account with what is allocated from now on; nil for the state's own.
    func charge(_ account: MemoryAccount?) {
        guard self.account !== account else { return }
        self.account = account
        clua_charge(host, account?.pointer)
    }
}

/// An address for zero bytes.
nonisolated(unsafe) private let emptyBytes: UnsafePointer<CChar> = {
    // Never written to and never freed: one byte for the life of the process.
    let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    byte.initialize(to: 0)
    return UnsafePointer(byte)
}()

/// The Lua release that the program was compiled with.
package enum LuaRelease {
    /// `Lua 5.4.4`.
    package static var name: String { String(cString: clua_release()) }
}
