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
    }

    let line: (_ number: Int, _ chunk: String) -> Substring?

    init(_ host: ScriptHost) { line = { [unowned host] number, chunk in host.sources.line(number, of: chunk) } }

    func describe(_ function: LuaFunction, named name: String = "") -> Description {
        let place = function.place
        guard !place.isNative else { return LuaLibrary.description(of: name) ?? Description() }
        var description = Description(place: "\(place.source):\(place.line)")
        guard let first = line(place.line, place.source) else { return description }
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

/// Lua's library functions in a line each, after the manual of Lua 5.4: those without a declaration of the host.
enum LuaLibrary {
    /// The tables of the library.
    static let modules = ["string", "table", "math", "utf8", "coroutine", "os", "io", "debug"]

    /// The declarations by name: `print`, `string.format`.
    static let functions: [String: LuaFunctionDeclaration] = {
        var all: [String: LuaFunctionDeclaration] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "|", maxSplits: 1)
            guard let (path, declaration) = declaration(parts[0], parts.count > 1 ? parts[1] : "") else { continue }
            all[path] = declaration
        }
        return all
    }()

    /// The description of a global function, or of a module's function when its name is unique.
    static func description(of name: String) -> FunctionTexts.Description? {
        functions[name].map {
            FunctionTexts.Description(parameters: $0.parametersText, documentation: $0.documentation)
        }
    }

    private static func declaration(
        _ signature: Substring, _ documentation: Substring
    ) -> (String, LuaFunctionDeclaration)? {
        guard let open = signature.firstIndex(of: "("), let close = signature.firstIndex(of: ")") else { return nil }
        let path = String(signature[..<open])
        let parameters = signature[signature.index(after: open)..<close].split(separator: ",").map { part in
            let name = part.filter { !"[] ".contains($0) }
            if name == "…" { return LuaParameter("…", .variadic(.any)) }
            return LuaParameter(name, part.contains("[") ? .optional(.any) : .any)
        }
        let results = signature[signature.index(after: close)...].split(separator: ",").compactMap { part in
            type(part.filter { $0.isLetter })
        }
        let name = path.split(separator: ".").last.map(String.init) ?? path
        let sentence = documentation.drop { $0.is(" ") }
        return (path, LuaFunctionDeclaration(name, parameters, returns: results, doc: String(sentence)))
    }

    static func type(_ name: String) -> LuaType? {
        switch name {
        case "string": .text
        case "integer": .integer
        case "number": .number
        case "boolean": .boolean
        case "table": .table
        case "function": .function
        case "any": .any
        default: nil
        }
    }

    private static let text = """
        assert(value, [message], …) → any | Gives its arguments back, or raises the message when the first is nil or false.
        collectgarbage([option], [argument]) → any | Runs the garbage collector; "count" tells the kilobytes in use.
        error(message, [level]) | Raises an error.
        getmetatable(object) → any | The metatable of a value.
        ipairs(table) → function, table, integer | For `for`: positions and elements, 1 up to the first nil.
        load(chunk, [name], [mode], [env]) → function, string | Compiles text into a function.
        next(table, [key]) → any, any | The key and value after a key.
        pairs(table) → function, table, any | For `for`: all keys and values.
        pcall(function, …) → boolean, any | Calls in protected mode: true and the results, or false and the error.
        rawequal(a, b) → boolean | Whether two values are the same, past any metamethod.
        rawget(table, key) → any | Reads a field past any metamethod.
        rawlen(value) → integer | The length past any metamethod.
        rawset(table, key, value) → table | Assigns a field past any metamethod.
        select(n, …) → any | The arguments from the n-th on; "#" gives how many there are.
        setmetatable(table, metatable) → table | Sets a table's metatable, and gives the table.
        tonumber(value, [base]) → number | The number that a text stands for; nil when it is none.
        tostring(value) → string | A value as text.
        type(value) → string | The type's name.
        warn(message, …) | Writes a warning; "@on" and "@off" switch them.
        xpcall(function, handler, …) → boolean, any | As pcall, with a function that is given the error.
        coroutine.close(thread) → boolean | Closes a coroutine and its pending variables.
        coroutine.create(function) → any | A new coroutine.
        coroutine.isyieldable([thread]) → boolean | Whether it can yield.
        coroutine.resume(thread, …) → boolean, any | Runs a coroutine to its next yield.
        coroutine.running() → any, boolean | The running coroutine, and whether it is the main one.
        coroutine.status(thread) → string | "running", "suspended", "normal" or "dead".
        coroutine.wrap(function) → function | A function that resumes a new coroutine.
        coroutine.yield(…) → any | Suspends the running coroutine.
        math.abs(x) → number | The absolute value.
        math.acos(x) → number | The arc cosine in radians.
        math.asin(x) → number | The arc sine in radians.
        math.atan(y, [x]) → number | The arc tangent of y/x in radians.
        math.ceil(x) → integer | The smallest integer not below x.
        math.cos(x) → number | The cosine of radians.
        math.deg(x) → number | Radians in degrees.
        math.exp(x) → number | e to the power of x.
        math.floor(x) → integer | The largest integer not above x.
        math.fmod(x, y) → number | The remainder of x/y, rounded towards zero.
        math.log(x, [base]) → number | The logarithm; the natural one without a base.
        math.max(x, …) → number | The largest argument.
        math.min(x, …) → number | The smallest argument.
        math.modf(x) → number, number | The integral and the fractional part.
        math.rad(x) → number | Degrees in radians.
        math.random([m], [n]) → number | A random number: from 0 to 1, 1 to m, or m to n.
        math.randomseed([x], [y]) | Seeds the random numbers.
        math.sin(x) → number | The sine of radians.
        math.sqrt(x) → number | The square root.
        math.tan(x) → number | The tangent of radians.
        math.tointeger(x) → integer | The integer, when x is one; else nil.
        math.type(x) → string | "integer", "float", or nil for what is not a number.
        math.ult(m, n) → boolean | Whether m is below n as unsigned integers.
        string.byte(s, [i], [j]) → integer | The codes of the bytes from i to j.
        string.char(…) → string | The string of these byte codes.
        string.find(s, pattern, [init], [plain]) → integer, integer | Where a pattern is first found.
        string.format(format, …) → string | A text made by a format, as C's printf does.
        string.gmatch(s, pattern, [init]) → function | For `for`: each match of a pattern.
        string.gsub(s, pattern, replacement, [n]) → string, integer | Replaces matches; gives how many, too.
        string.len(s) → integer | The number of bytes.
        string.lower(s) → string | With small letters.
        string.match(s, pattern, [init]) → string | The first match's captures.
        string.pack(format, …) → string | Values as bytes, by a format.
        string.packsize(format) → integer | The bytes that a format takes.
        string.rep(s, n, [separator]) → string | n copies.
        string.reverse(s) → string | The bytes in reverse.
        string.sub(s, i, [j]) → string | The bytes from i to j; negative ones count from the end.
        string.unpack(format, s, [position]) → any | Values read from bytes, by a format.
        string.upper(s) → string | With capital letters.
        table.concat(list, [separator], [i], [j]) → string | The elements as one text.
        table.insert(list, [position], value) | Inserts an element; at the end without a position.
        table.move(a, from, to, position, [b]) → table | Copies elements.
        table.pack(…) → table | The arguments as a table, their number in n.
        table.remove(list, [position]) → any | Takes an element out, the last one without a position.
        table.sort(list, [comparison]) | Sorts in place.
        table.unpack(list, [i], [j]) → any | The elements as values.
        utf8.char(…) → string | The text of these code points.
        utf8.codepoint(s, [i], [j]) → integer | The code points of characters.
        utf8.codes(s) → function | For `for`: positions and code points.
        utf8.len(s, [i], [j]) → integer | How many characters.
        utf8.offset(s, n, [i]) → integer | The byte position of the n-th character.
        os.clock() → number | Processor time of the process in seconds.
        os.date([format], [time]) → string | A date as text, or as a table with "*t".
        os.difftime(b, a) → number | Seconds between two times.
        os.getenv(name) → string | A variable of the environment.
        os.time([table]) → integer | Seconds since 1970.
        io.read(…) → string | Reads from standard input.
        io.type(value) → string | "file", "closed file", or nil for what is not a file.
        debug.traceback([message], [level]) → string | The call stack as text.
        """
}

extension LuaFunctionDeclaration {
    /// The parameters and results, as its signature has them after the name.
    var parametersText: String { String(signature().dropFirst(name.count)) }
}
