internal import CLuaShim

/// A stack frame at a break.
package struct LuaBreakCall {
    /// The function's kind.
    package enum Kind: Sendable {
        /// The main function of a chunk.
        case chunk
        /// A function of a script.
        case function
        /// A function of the host or of Lua's libraries.
        case host
    }

    package let kind: Kind
    /// The chunk's name as in error messages; `[C]` for a function of the host.
    package let source: String
    /// The full name of the chunk, without its mark.
    package let chunk: String
    /// The current line; nil for a function of the host.
    package let line: Int?
    /// The name by which it was called; nil if the call has none.
    package let name: String?
    /// The first line of its definition.
    package let definedAt: Int
    /// The number of its coroutine, counted from 0 for the innermost.
    package let coroutine: Int
    /// Valid only during the break.
    let L: OpaquePointer
    let level: Int32

    init(_ frame: clua_frame, _ place: clua_place_of_call, _ L: OpaquePointer) {
        kind = frame.isC != 0 ? .host : frame.isMain != 0 ? .chunk : .function
        source = LuaFunctionPlace(frame).source
        chunk = clua_getsource(L, place.level).map { String(cString: $0.advanced(by: 1)) } ?? source
        line = frame.line > 0 ? Int(frame.line) : nil
        name = frame.name.map { String(cString: $0) }
        definedAt = Int(frame.definedAt)
        coroutine = Int(place.coroutine)
        self.L = L
        level = place.level
    }

    /// Its name, or the place of its definition.
    package var title: String {
        switch kind {
        case .chunk: "chunk"
        case .function: name ?? "function <\(source):\(definedAt)>"
        case .host: name ?? "?"
        }
    }
}
