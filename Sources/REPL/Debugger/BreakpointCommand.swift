import Lua

/// The arguments of `:break`.
enum BreakpointCommand: Equatable {
    case list
    case set(path: String, line: Int, condition: String?)
    /// A breakpoint's number; nil for all.
    case remove(Int?)
    case errors(LuaDebugger.Errors)

    /// Nil for invalid arguments.
    ///
    /// - Parameters:
    ///   - text: `main.lua:12 if total > 3`, `off 2`, `off all`, `error`, `error all`, `error off`.
    ///   - current: the chunk for a line without a file.
    init?(_ text: String, current: String? = nil) {
        let words = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true).map(String.init)
        switch words.first {
        case nil: self = .list
        case "off"? where words.count == 2:
            if words[1] == "all" {
                self = .remove(nil)
            } else if let number = Int(words[1]) {
                self = .remove(number)
            } else {
                return nil
            }
        case "error"?:
            switch words.dropFirst().joined(separator: " ") {
            case "": self = .errors(.uncaught)
            case "all": self = .errors(.all)
            case "off": self = .errors(.none)
            default: return nil
            }
        case let place?:
            guard words.count == 1 || (words.count == 3 && words[1] == "if") else { return nil }
            let colon = place.lastIndex(of: ":")
            let path = colon.map { String(place[..<$0]) } ?? current
            guard let path, !path.isEmpty, let line = Int(colon.map { place[place.index(after: $0)...] } ?? place[...]),
                line > 0
            else { return nil }
            self = .set(path: path, line: line, condition: words.count == 3 ? words[2] : nil)
        }
    }
}
