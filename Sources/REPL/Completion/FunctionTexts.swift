import Lua
import Scripting

/// Parameters and comments of scripts' functions, from their source text.
struct FunctionTexts {
    /// The description of a function.
    struct Description: Equatable {
        /// `(a, b)`; "()" where the source is unknown.
        var parameters = "(…)"
        /// The comment that ends directly above it, without dashes.
        var documentation = ""
        /// `file.lua:12`; nil for a function of the host or of Lua.
        var place: String?
        /// The first line of its definition.
        var firstLine = ""
    }

    let line: (_ number: Int, _ chunk: String) -> Substring?

    init(_ host: ScriptHost) { line = { [unowned host] number, chunk in host.sources.line(number, of: chunk) } }

    func describe(_ function: LuaFunction, named name: String = "") -> Description {
        let place = function.place
        guard !place.isNative else { return LuaLibrary.description(of: name) ?? Description() }
        var description = Description(place: "\(place.source):\(place.line)")
        guard let first = line(place.line, place.source) else { return description }
        description.firstLine = String(first)
        description.parameters = parameters(of: first, name: name, place)
        description.documentation = comment(above: place)
        return description
    }

    private func parameters(of first: Substring, name: String, _ place: LuaFunctionPlace) -> String {
        let lua = LuaText(String(first))
        let starts = lua.tokens.indices.filter { lua.isToken($0, "function") }
        // Of several on one line: the one with the name, else the first.
        let start =
            starts.first { index in
                lua.name(index + 1) == name || lua.isToken(index - 1, "=") && lua.name(index - 2) == name
            } ?? starts.first
        guard let start, let open = (start..<lua.tokens.count).first(where: { lua.isToken($0, "(") }) else {
            return "(…)"
        }
        var names: [String] = []
        for index in (open + 1)..<max(open + 1, lua.tokens.count) {
            if lua.isToken(index, ")") { break }
            if lua.isToken(index, "...") { names.append("…") }
            if let name = lua.name(index) { names.append(name) }
        }
        return "(\(names.joined(separator: ", ")))"
    }

    private func comment(above place: LuaFunctionPlace) -> String {
        var lines: [String] = []
        var number = place.line - 1
        while number > 0, let text = line(number, place.source) {
            let trimmed = text.drop(while: \.isWhitespace)
            guard trimmed.hasPrefix("--") else { break }
            lines.append(String(trimmed.drop { $0.is("-") }.drop(while: \.isWhitespace)))
            number -= 1
        }
        return lines.reversed().joined(separator: "\n")
    }
}
