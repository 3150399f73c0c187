internal import CLuaShim

/// What scripts write: its count, which a limit bounds, and the files in which they write.
extension LuaState {
    /// The bytes that scripts have written since the last `resetOutput()`, including dropped ones.
    package var output: Int {
        checkUse()
        return clua_output(host)
    }

    /// Restores an earlier output count.
    func setOutput(_ bytes: Int) {
        checkUse()
        clua_set_output(host, bytes)
    }

    /// Resets the output count and stops dropping output.
    package func resetOutput() {
        checkUse()
        clua_reset_output(host)
    }

    /// Counts the output of a host's own `print`.
    ///
    /// - Returns: false if the limit was exceeded earlier: the output must be dropped.
    /// - Throws: once, when these bytes exceed the limit.
    package func countOutput(_ bytes: Int) throws(LuaError) -> Bool {
        checkUse()
        switch clua_count_output(host, bytes) {
        case CLUA_OUTPUT_FITS: return true
        case CLUA_OUTPUT_RAISES:
            let limit = clua_output_limit(host)
            throw LuaError(.output, "output limit reached (\(limit) bytes): what follows is dropped")
        default: return false
        }
    }

    /// Makes a Lua file object that owns a descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: the descriptor.
    ///   - mode: as C's `fdopen`.
    ///   - process: the process at the other end of a pipe: closing waits until it ends and returns the results of
    ///     `os.execute`. Below 0: it has ended with the status -1 - process, as `waitpid` has it.
    ///   - path: its name in messages.
    /// - Returns: the object; nil on failure, with the descriptor left open.
    package func makeFile(_ descriptor: Int32, mode: String, process: Int32 = 0, path: String) -> LuaValue? {
        let L = current
        guard clua_checkstack(L, 6) != 0, clua_pushfile(L, descriptor, mode, process, path) != 0 else { return nil }
        return popValue(on: L)
    }

    /// Replaces a method of standard streams; `flush` and `read` are those of `io`, too.
    ///
    /// - Parameters:
    ///   - method: the method's name.
    ///   - streams: the descriptors of the streams; for others the method is Lua's own.
    ///   - function: gets the descriptor, the file and the method's arguments; it may wait.
    /// - Throws: ``LuaError`` for lack of memory.
    package func takeStream(_ method: String, of streams: Set<Int>, _ function: LuaFunction) throws(LuaError) {
        let L = try enter(capacity: 8)
        let base = clua_gettop(L)
        push(.text(method), on: L)
        push(.function(function), on: L)
        push(.integer(streams.reduce(0) { $0 | 1 << Int64($1) }), on: L)
        let status = clua_takestream(L)
        guard status == 0 else { throw takeError(status, on: L, top: base) }
    }

    /// Flushes the files that scripts have open. A script hears of a failure when it closes the file; at the last time
    /// it counts in ``lostFiles``.
    package func flushFiles(isLast: Bool = false) {
        checkUse()
        clua_flush_files(host, isLast ? 1 : 0)
    }

    /// The files that lost bytes without a result for the script, which had left them to the collector, to the end of a
    /// block, or open: their number, and the first one's path and error number.
    package var lostFiles: (count: Int, path: String, code: Int32)? {
        checkUse()
        var (code, path): (Int32, UnsafePointer<CChar>?) = (0, nil)
        let count = clua_lost_files(host, &code, &path)
        return count > 0 ? (Int(count), path.map { String(cString: $0) } ?? "", code) : nil
    }

    /// The first program of a pipe that ended with another exit status than 0: its command and the status.
    package var failedProgram: (command: String, status: Int32)? {
        checkUse()
        var command: UnsafePointer<CChar>?
        let status = clua_failed_program(host, &command)
        return status != 0 ? (command.map { String(cString: $0) } ?? "", status) : nil
    }
}
