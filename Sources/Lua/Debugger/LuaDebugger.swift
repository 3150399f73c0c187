internal import CLuaShim

/// Manages breakpoints and steps of a state's scripts, for any front end.
///
/// While nothing is debugged, scripts run without a hook. All callbacks run on the state's thread, at a break between
/// two instructions of a script. Code that is evaluated there does not break.
package final class LuaDebugger {
    /// How a script resumes after a break.
    package enum Resume {
        case resume
        /// Runs to the next line, also in a called function.
        case stepIn
        /// Runs to the next line of the function or of its caller.
        case stepOver
        /// Runs to the next line of the caller.
        case stepOut
        /// Like `LuaState.InterruptDecision.stop`.
        case stop(LuaError, depth: Int)
    }

    /// Which errors break where they are raised.
    package enum Errors: Int32, Sendable {
        case none, uncaught, all
    }

    private unowned let state: LuaState
    /// In the order of their numbers.
    package private(set) var breakpoints: [LuaBreakpoint] = []
    private var lastNumber = 0

    /// Which errors break; initially none.
    package var errors = Errors.none {
        didSet { clua_set_error_breaks(state.host, errors.rawValue) }
    }

    /// Called at each break.
    package var onBreak: (LuaBreak) -> Resume = { _ in .resume }
    /// Called with a breakpoint's message and its values.
    package var onMessage: (String, LuaBreakpoint) -> Void = { _, _ in }
    /// Called when the text of a breakpoint's chunk has become known: the breakpoint has its line.
    package var onPlaced: (LuaBreakpoint) -> Void = { _ in }
    /// Called with the name of a chunk, in Lua's notation, and the number of each line of it that begins; it runs no code
    /// of scripts. Scripts take several times as long.
    package var onLine: ((String, Int) -> Void)? {
        didSet { clua_observe_lines(state.host, onLine == nil ? 0 : 1) }
    }
    /// Whether a breakpoint's path is that of a chunk, given by its name without the mark. A host compares files.
    package var isOfChunk: (_ path: String, _ chunk: String) -> Bool = LuaDebugger.isPath
    /// Evaluates conditions and messages; a host limits their time.
    package var evaluate: (LuaFunction, [LuaValue]) -> Result<[LuaValue], LuaError> = { function, arguments in
        Result { () throws(LuaError) in try function.call(arguments: arguments) }
    }

    init(_ state: LuaState) { self.state = state }

    // MARK: Breakpoints

    /// Whether a breakpoint's path matches a chunk's name, given without its mark.
    package static func isPath(_ path: String, of chunk: String) -> Bool { clua_matches("@" + chunk, path) != 0 }

    /// Whether a breakpoint's path is that of a chunk, by its name in Lua's notation. A literal name is compared as it is.
    private func isOf(_ name: String, _ path: String) -> Bool {
        let chunk = String(name.dropFirst())
        return chunk == path || (name.hasPrefix("@") && isOfChunk(path, chunk))
    }

    /// Whether a breakpoint is in a chunk of a name in Lua's notation.
    func isIn(_ name: String, breakpoint number: Int) -> Bool {
        guard let index = breakpoints.firstIndex(where: { $0.number == number }), isOf(name, breakpoints[index].path)
        else { return false }
        if !breakpoints[index].isPlaced {
            // A script has compiled this chunk itself.
            breakpoints[index].isPlaced = true
            onPlaced(breakpoints[index])
        }
        return true
    }

    /// Checks the condition and the message of a breakpoint.
    ///
    /// - Throws: the error of a part that is not an expression.
    package func check(_ breakpoint: LuaBreakpoint) throws(LuaError) {
        if let condition = breakpoint.condition {
            _ = try state.loadExpression(condition, name: Self.conditionName, environment: nil)
        }
        if let message = breakpoint.message { _ = try pieces(of: message) }
    }

    private static let conditionName = "=(condition)"

    /// Sets a breakpoint, replacing one for the same path and line. Several may move to one line.
    ///
    /// - Parameters:
    ///   - breakpoint: the breakpoint.
    ///   - lines: the lines with code, if known: the breakpoint moves to the next one.
    /// - Returns: the breakpoint with its number and line; nil if no code follows its line.
    @discardableResult
    package func add(_ breakpoint: LuaBreakpoint, lines: [Int]? = nil) -> LuaBreakpoint? {
        var added = breakpoint
        if let lines {
            guard let line = lines.first(where: { $0 >= breakpoint.line }) else { return nil }
            added.line = line
            added.isPlaced = true
        }
        lastNumber += 1
        added.number = lastNumber
        breakpoints.removeAll { $0.path == added.path && $0.wantedLine == added.wantedLine }
        breakpoints.append(added)
        install()
        return added
    }

    /// Removes a breakpoint; false if none has this number.
    package func remove(_ number: Int) -> Bool {
        let count = breakpoints.count
        breakpoints.removeAll { $0.number == number }
        install()
        return breakpoints.count < count
    }

    package func removeAll() {
        breakpoints = []
        install()
    }

    private func install() {
        clua_remove_breakpoints(state.host)
        for breakpoint in breakpoints {
            _ = clua_add_breakpoint(
                state.host, Int32(clamping: breakpoint.line), Int32(clamping: breakpoint.number))
        }
    }

    /// Moves the breakpoints of a compiled chunk to lines with code.
    func compiled(_ name: String, _ function: LuaFunction) {
        guard !breakpoints.isEmpty, name.hasPrefix("@") || name.hasPrefix("=") else { return }
        let inChunk = breakpoints.filter { isOf(name, $0.path) }
        guard !inChunk.isEmpty else { return }
        let lines = function.codeLines
        var placed: [LuaBreakpoint] = []
        for breakpoint in inChunk {
            guard let line = lines.first(where: { $0 >= breakpoint.line }),
                let index = breakpoints.firstIndex(where: { $0.number == breakpoint.number }),
                line != breakpoint.line || !breakpoint.isPlaced
            else { continue }
            (breakpoints[index].line, breakpoints[index].isPlaced) = (line, true)
            placed.append(breakpoints[index])
        }
        install()
        placed.forEach(onPlaced)
    }

    // MARK: Breaks

    /// Breaks at the next line that is executed, unless `cancelStep()` is called.
    package func breakAtNextLine() { clua_take_step(state.host, CLUA_STEP_IN) }

    /// Cancels a pending step.
    package func cancelStep() { clua_take_step(state.host, CLUA_STEP_NONE) }

    /// Breaks in the caller of a function of the host.
    package func breakNow(_ call: LuaCall) { _ = clua_pause(call.L) }

    /// Called by the C shim: decides whether the script breaks, and how it resumes.
    func pause(_ reasons: Int32, _ number: Int32) -> Resume {
        let stop = LuaBreak(state, .step)
        defer { stop.end() }
        var breaks = reasons & CLUA_BREAK_STEP != 0
        if reasons & CLUA_BREAK_CALL != 0 {
            (stop.reason, breaks) = (.call, true)
        } else if reasons & CLUA_BREAK_ERROR != 0 {
            (stop.reason, breaks) = (.error(stop.error), true)
        } else if reasons & CLUA_BREAK_LINE != 0, let reason = hit(Int(number), stop) {
            (stop.reason, breaks) = (reason, true)
        }
        guard breaks, !stop.isOver, !state.isUnwinding else { return .resume }
        let resume = onBreak(stop)
        switch resume {
        case .resume, .stop: clua_take_step(state.host, CLUA_STEP_NONE)
        case .stepIn: clua_take_step(state.host, CLUA_STEP_IN)
        case .stepOver: clua_take_step(state.host, CLUA_STEP_OVER)
        case .stepOut: clua_take_step(state.host, CLUA_STEP_OUT)
        }
        return resume
    }

    /// Counts a hit of each breakpoint of a line, by the number of one of them, and returns the first reason to break.
    private func hit(_ number: Int, _ stop: LuaBreak) -> LuaBreak.Reason? {
        guard let place = breakpoints.first(where: { $0.number == number }) else { return nil }
        let reached = breakpoints.filter { $0.path == place.path && $0.line == place.line }
        return reached.compactMap { hit($0, stop) }.first
    }

    private func hit(_ breakpoint: LuaBreakpoint, _ stop: LuaBreak) -> LuaBreak.Reason? {
        var failure: LuaError?
        if let condition = breakpoint.condition {
            switch value(of: condition, in: stop) {
            case .success(let value) where !value.isTruthy: return nil
            case .success: break
            case .failure(let error): failure = error
            }
        }
        // The evaluation may have changed the list.
        guard let index = breakpoints.firstIndex(where: { $0.number == breakpoint.number }) else { return nil }
        breakpoints[index].hits += 1
        if failure == nil, let message = breakpoint.message {
            onMessage(text(of: message, in: stop), breakpoint)
            return nil
        }
        guard failure != nil || breakpoints[index].hits >= breakpoint.firstHit else { return nil }
        return .breakpoint(breakpoints[index], failure: failure)
    }

    private func value(of text: String, in stop: LuaBreak) -> Result<LuaValue, LuaError> {
        do throws(LuaError) {
            let function = try stop.compile(text, in: stop.innermost, as: .expression, name: Self.conditionName)
            return evaluate(function, stop.varargs(of: stop.innermost)).map { $0.first ?? .nil }
        } catch {
            return .failure(error)
        }
    }

    // MARK: Messages

    /// A part of a message.
    private enum Piece {
        case text(Substring)
        case expression(Substring)
    }

    /// Splits a message: an expression begins after a brace, and ends before the first one that completes it, so that it
    /// may contain tables and texts with braces.
    ///
    /// - Throws: the error of a part in braces that is not an expression.
    private func pieces(of message: String) throws(LuaError) -> [Piece] {
        var pieces: [Piece] = []
        var rest = message[...]
        while let start = rest.firstIndex(of: "{"), rest[start...].contains("}") {
            pieces.append(.text(rest[..<start]))
            let inner = rest[rest.index(after: start)...]
            let end = try end(of: inner)
            pieces.append(.expression(inner[..<end]))
            rest = inner[inner.index(after: end)...]
        }
        return pieces + [.text(rest)]
    }

    /// The brace after an expression.
    private func end(of text: Substring) throws(LuaError) -> Substring.Index {
        var failure: LuaError?
        for end in text.indices.filter({ text[$0] == "}" }).prefix(64) {
            do throws(LuaError) {
                _ = try state.loadExpression(String(text[..<end]), name: Self.conditionName, environment: nil)
                return end
            } catch { failure = failure ?? error }
        }
        throw failure ?? LuaError(.runtime, "a brace without its end")
    }

    /// Replaces a message's expressions by their values.
    private func text(of message: String, in stop: LuaBreak) -> String {
        var text = ""
        for piece in (try? pieces(of: message)) ?? [.text(message[...])] {
            switch piece {
            case .text(let part): text += part
            case .expression(let part):
                switch value(of: String(part), in: stop) {
                case .success(let value): text += state.describe(value).description
                case .failure(let error): text += "(\(error.message))"
                }
            }
        }
        return text
    }
}

extension LuaFunction {
    /// The lines with code of the function and its nested functions, in order; empty if they are unknown.
    package var codeLines: [Int] {
        let L = state.current
        guard clua_checkstack(L, 2) != 0 else { return [] }
        state.push(reference, on: L)
        defer { clua_settop(L, -2) }
        let count = clua_code_lines(L, nil, 0)
        var lines = [Int32](repeating: 0, count: min(count, 1 << 22))
        _ = clua_code_lines(L, &lines, lines.count)
        return Set(lines).filter { $0 > 0 }.sorted().map(Int.init)
    }
}

/// A line at which scripts break or log a message.
package struct LuaBreakpoint: Sendable, Equatable {
    /// The number, which is never reused.
    package internal(set) var number = 0
    /// The file or the chunk's name; ``LuaDebugger/isOfChunk`` compares them.
    package let path: String
    /// The line, counted from 1. It moves to the next line with code once the chunk's text is known.
    package internal(set) var line: Int
    /// The line that was asked for.
    let wantedLine: Int
    /// An expression: the script breaks only if it is true; nil for always.
    package var condition: String?
    /// The first hit at which the script breaks, from 1.
    package var firstHit = 1
    /// A message to log instead of a break; expressions in braces are replaced by their values.
    package var message: String?
    /// Whether its line is known to have code: the text of its file or chunk was found.
    package internal(set) var isPlaced = false
    /// How often the line was reached with its condition true or failed.
    package internal(set) var hits = 0

    package init(path: String, line: Int, condition: String? = nil, firstHit: Int = 1, message: String? = nil) {
        self.path = path
        (self.line, wantedLine) = (line, line)
        self.condition = condition
        self.firstHit = firstHit
        self.message = message
    }
}
