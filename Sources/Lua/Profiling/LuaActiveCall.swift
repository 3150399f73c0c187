internal import CLuaShim

/// A call on the stack, for a profiler and for messages.
package struct LuaActiveCall: Hashable, Sendable {
    /// The function, as far as functions can be distinguished on a stack.
    package struct Function: Hashable, Sendable {
        /// The name of the call; nil for a chunk, and for a call by the host.
        package let name: String?
        /// The chunk's name as in errors.
        package let source: String
        /// The first line of the definition, counted from 1; 0 for a chunk.
        package let line: Int
        /// Whether it is a function of the host or of Lua's libraries.
        package let isNative: Bool

        package init(name: String?, source: String, line: Int, isNative: Bool) {
            self.name = name
            self.source = source
            self.line = line
            self.isNative = isNative
        }
    }

    package let function: Function
    /// The executing line; 0 in a native function.
    package let line: Int

    package init(_ function: Function, line: Int) {
        self.function = function
        self.line = line
    }

    fileprivate init(_ frame: clua_frame) {
        let place = LuaFunctionPlace(frame)
        function = Function(
            name: frame.name.map { String(cString: $0) }, source: place.source, line: max(place.line, 0),
            isNative: place.isNative)
        line = max(Int(frame.line), 0)
    }

    /// The calls of a coroutine, outermost first; only the innermost `limit` of them.
    fileprivate static func all(_ L: OpaquePointer, isRunning: Bool, limit: Int) -> [LuaActiveCall] {
        withUnsafeTemporaryAllocation(of: clua_frame.self, capacity: limit) { frames in
            let count = Int(clua_getcalls(L, isRunning ? 1 : 0, frames.baseAddress, Int32(limit)))
            return frames[..<count].reversed().map(LuaActiveCall.init)
        }
    }
}

extension LuaState {
    /// The active calls, outermost first; only the innermost `limit` of them. Complexity: O(limit²), since Lua finds a
    /// level by walking from the innermost one.
    package func activeCalls(limit: Int) -> [LuaActiveCall] {
        LuaActiveCall.all(current, isRunning: true, limit: limit)
    }
}

extension LuaThread {
    /// The calls of a waiting coroutine, outermost first.
    package func activeCalls(limit: Int) -> [LuaActiveCall] {
        LuaActiveCall.all(L, isRunning: false, limit: limit)
    }
}

extension LuaError {
    /// The end of code at its deadline, with the line that it had reached.
    ///
    /// - Parameters:
    ///   - seconds: the limit, which the message names.
    ///   - calls: the active calls, outermost first.
    /// - Returns: the error.
    package static func timeIsUp(limit seconds: Double, at calls: [LuaActiveCall]) -> LuaError {
        let place = calls.last { $0.line > 0 }.map { "\($0.function.source):\($0.line): " } ?? ""
        let milliseconds = (seconds * 1_000).rounded() / 1_000
        let limit = Int(exactly: milliseconds).map(String.init) ?? String(milliseconds)
        return LuaError(.deadline, "\(place)time is up: the limit is \(limit) s")
    }
}
