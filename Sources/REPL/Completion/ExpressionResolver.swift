import Lua
import Scripting

/// Resolves expressions without running code: existing values are read raw, and calls have their declared result types.
struct ExpressionResolver {
    let host: ScriptHost
    /// The session's locals, which shadow the globals.
    let locals: LuaTable?
    let lua: LuaText
    let names: LocalNames
    private let declarations: LuaDeclarations
    /// The depth limit for expressions that depend on each other.
    private static let depthLimit = 12
    /// Maximum number of `__index` tables followed in sequence.
    private static let indexLimit = 8

    init(_ host: ScriptHost, locals: LuaTable?, lua: LuaText, before end: Int) {
        self.host = host
        self.locals = locals
        self.lua = lua
        names = LocalNames(in: lua, before: end)
        declarations = host.state.declarations
    }

    // MARK: Expressions

    /// Resolves the expression that ends with a token.
    func expression(endingAt index: Int) -> Knowledge {
        PrefixExpression.ending(at: index, in: lua).map { resolve($0, 0) } ?? .unknown
    }

    private func resolve(_ expression: PrefixExpression, _ depth: Int) -> Knowledge {
        results(expression, depth).first ?? .unknown
    }

    private func results(_ expression: PrefixExpression, _ depth: Int) -> [Knowledge] {
        guard depth < Self.depthLimit else { return [] }
        var current: [Knowledge]
        var steps = expression.steps[...]
        switch expression.base {
        case .string: current = [.type(.text)]
        case .group(let range): current = [value(of: range, depth + 1)]
        case .name(let name):
            if case .call(let arguments)? = steps.first, let known = wellKnownCall(name, arguments, depth) {
                current = known
                steps = steps.dropFirst()
            } else {
                current = [named(name, depth)]
            }
        }
        for step in steps {
            let target = current.first ?? .unknown
            switch step {
            case .field(let name), .method(let name): current = [member(name, of: target)]
            case .index(let range): current = [element(of: target, range)]
            case .call: current = call(target)
            }
        }
        return current
    }

    /// Resolves a range of tokens that is one expression.
    private func value(of range: Range<Int>, _ depth: Int) -> Knowledge {
        guard !range.isEmpty, depth < Self.depthLimit, range.upperBound <= lua.tokens.count else { return .unknown }
        if let whole = PrefixExpression.filling(range, in: lua) { return resolve(whole, depth) }
        // `x or y` is treated as `x`.
        guard let start = PrefixExpression.beginning(range, in: lua) else {
            return lua.tokens[range.lowerBound].kind == .number ? .type(.number) : .unknown
        }
        let hasAlternative = range.contains { lua.isToken($0, "or") }
        return hasAlternative ? resolve(start, depth) : .unknown
    }

    /// Resolves a name: a local of the text, a local of the session, a global.
    func named(_ name: String, _ depth: Int = 0) -> Knowledge {
        if let origin = names.origins[name], depth < Self.depthLimit {
            let known = knowledge(of: origin, depth + 1)
            if !known.isUnknown || !names.assigned.contains(name) { return known }
        }
        return global(name)
    }

    /// Resolves a name outside the text.
    func global(_ name: String) -> Knowledge {
        if let local = locals?[name], !local.isNil { return .value(local) }
        if let declared = declarations[name, .global], let function = declared.functions.first {
            return .function(function, owner: nil)
        }
        let value = host.state.globals[name]
        if case .function(let function) = value, function.place.isNative, let known = LuaLibrary.functions[name] {
            return .function(known, owner: nil)
        }
        return value.isNil ? .unknown : .value(value)
    }

    // MARK: Locals of the text

    private func knowledge(of origin: LocalNames.Origin, _ depth: Int) -> Knowledge {
        switch origin {
        case .counter: return .type(.integer)
        case .function: return .unknown
        case .assigned(let position, let expressions):
            let list = split(expressions)
            if position < list.count { return value(of: list[position], depth) }
            guard let last = list.last, let call = PrefixExpression.filling(last, in: lua) else { return .unknown }
            let rest = results(call, depth)
            let number = position - (list.count - 1)
            return number < rest.count ? rest[number] : .unknown
        case .iterated(let position, let expressions):
            return iterated(position, expressions, depth)
        case .parameter(let position, let function):
            return parameter(position, ofFunctionAt: function)
        }
    }

    private func iterated(_ position: Int, _ range: Range<Int>, _ depth: Int) -> Knowledge {
        guard let first = split(range).first, let expression = PrefixExpression.filling(first, in: lua) else {
            return .unknown
        }
        if case .name(let name) = expression.base, name == "ipairs" || name == "pairs",
            case .call(let arguments)? = expression.steps.first, let argument = split(arguments).first
        {
            let table = value(of: argument, depth)
            if position == 0 { return name == "ipairs" ? .type(.integer) : .type(.text) }
            switch table {
            case .type(.array(let element)): return .type(element)
            case .value(.table(let table)): return .value(table[1])
            default: return .unknown
            }
        }
        guard case .type(.callback(let signature))? = results(expression, depth).first else { return .unknown }
        let types = CallbackSignature(signature).results
        return position < types.count ? .type(types[position]) : .unknown
    }

    /// The type of a handler's parameter, by the call that registers the handler.
    private func parameter(_ position: Int, ofFunctionAt function: Int) -> Knowledge {
        guard let context = CallContext(in: lua, before: function),
            case .function(let declaration, _) = expression(endingAt: context.calleeEnd)
        else { return .unknown }
        if context.table == nil, let event = firstString(context.arguments), position == 0,
            let known = EventDeclaration.all.first(where: { $0.name == event })
        {
            return .event(known)
        }
        guard context.argument < declaration.parameters.count else { return .unknown }
        for case .callback(let signature) in declaration.parameters[context.argument].type.alternatives {
            let types = CallbackSignature(signature).parameters
            if position < types.count { return .type(types[position]) }
        }
        return .unknown
    }

    /// The contents of the first argument, if it is a string.
    func firstString(_ arguments: Range<Int>) -> String? {
        guard let first = arguments.first, first < lua.tokens.count, lua.tokens[first].isString else { return nil }
        return lua.stringContents(lua.tokens[first])
    }

    /// Splits a list of expressions at its commas.
    private func split(_ range: Range<Int>) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var depth = 0
        var start = range.lowerBound
        for index in range where index < lua.tokens.count {
            if lua.opens(index) { depth += 1 }
            if lua.closes(index) { depth -= 1 }
            if depth == 0, lua.isToken(index, ",") {
                parts.append(start..<index)
                start = index + 1
            }
        }
        if start < range.upperBound { parts.append(start..<range.upperBound) }
        return parts
    }

    // MARK: Steps

    private func wellKnownCall(_ name: String, _ arguments: Range<Int>, _ depth: Int) -> [Knowledge]? {
        switch name {
        case "assert", "setmetatable": return split(arguments).first.map { [value(of: $0, depth + 1)] }
        case "tostring": return [.type(.text)]
        case "require":
            guard let module = firstString(arguments),
                case .table(let package) = host.state.globals["package"],
                case .table(let loaded) = package["loaded"]
            else { return nil }
            return [.value(loaded[module])]
        default: return nil
        }
    }

    private func call(_ target: Knowledge) -> [Knowledge] {
        switch target {
        case .function(let declaration, _): return declaration.results.map { .type($0) }
        case .value(.table(let table)):
            guard let call = declaration(of: table)?.functions.first(where: { $0.name.isEmpty }) else { return [] }
            return call.results.map { .type($0) }
        default: return []
        }
    }

    /// Resolves a member of a value.
    func member(_ name: String, of target: Knowledge) -> Knowledge {
        switch target {
        case .unknown, .function: return .unknown
        case .event(let event):
            if let field = event.payload.first(where: { $0.name == name }) { return .type(field.type) }
            return declarations["Event", .class].map { $0.member(name) } ?? .unknown
        case .value(.table(let table)):
            let declared = declaration(of: table)?.member(name) ?? .unknown
            guard declared.isUnknown else { return declared }
            let value = RawAccess.field(.text(name), of: table, limit: Self.indexLimit)
            if case .function = value, let library = libraryName(of: table),
                let known = LuaLibrary.functions["\(library).\(name)"]
            {
                return .function(known, owner: nil)
            }
            return value.isNil ? .unknown : .value(value)
        case .value(.userdata(let userdata)):
            return userdata.className.flatMap { declarations[$0, .class] }.map { $0.member(name) } ?? .unknown
        case .value(.string): return member(name, of: .value(host.state.globals["string"]))
        case .value: return .unknown
        case .type(let type):
            return type.alternatives.lazy.map { member(name, ofType: $0) }.first { !$0.isUnknown } ?? .unknown
        }
    }

    private func member(_ name: String, ofType type: LuaType) -> Knowledge {
        switch type {
        case .text, .string, .choice: return member(name, of: .value(host.state.globals["string"]))
        case .object(let className):
            return (declarations[className, .class] ?? declarations[className]).map { $0.member(name) } ?? .unknown
        case .record(_, let fields), .options(let fields):
            return fields.first { $0.name == name }.map { .type($0.type) } ?? .unknown
        default: return .unknown
        }
    }

    private func element(of target: Knowledge, _ key: Range<Int>) -> Knowledge {
        switch target {
        case .value(.table(let table)):
            guard let constant = constant(key) else { return .unknown }
            return .value(RawAccess.field(constant, of: table, limit: Self.indexLimit))
        case .value(.userdata(let userdata)):
            return userdata.className.map { indexed(.object($0)) } ?? .unknown
        case .type(let type): return type.alternatives.map(indexed).first { !$0.isUnknown } ?? .unknown
        default: return .unknown
        }
    }

    private func indexed(_ type: LuaType) -> Knowledge {
        switch type {
        case .array(let element): return .type(element)
        case .object(let name):
            guard let operation = declarations[name, .class]?.operators.first(where: { $0.name == "index" }) else {
                return .unknown
            }
            return .type(operation.result)
        default: return .unknown
        }
    }

    private func constant(_ key: Range<Int>) -> LuaValue? {
        guard key.count == 1, let first = key.first, first < lua.tokens.count else { return nil }
        let token = lua.tokens[first]
        if token.isString { return .text(lua.stringContents(token)) }
        return Int64(lua.text(token)).map { .integer($0) }
    }

    // MARK: Declarations

    /// The declaration of a module by its table.
    func declaration(of table: LuaTable) -> LuaDeclaration? {
        guard table.identity != nil else { return nil }
        if let name = table.metatable?["__name"].textValue, let found = declarations[name, .module] {
            return found
        }
        return declarations.all.first { $0.kind == .module && $0.isPartOfLua && isGlobal($0.name, table) }
    }

    /// The global name of a library table.
    func libraryName(of table: LuaTable) -> String? {
        guard table.identity != nil else { return nil }
        return LuaLibrary.modules.first { isGlobal($0, table) }
    }

    /// Whether a global is this table.
    private func isGlobal(_ name: String, _ table: LuaTable) -> Bool {
        guard case .table(let global) = host.state.globals[name] else { return false }
        return global.identity == table.identity
    }

    /// The declaration of a class.
    func declaration(ofClass name: String) -> LuaDeclaration? { declarations[name, .class] }
}

extension LuaDeclaration {
    /// Resolves a declared member.
    fileprivate func member(_ name: String) -> Knowledge {
        if let property = properties.first(where: { $0.name == name }) { return .type(property.type) }
        if let function = (functions + statics).first(where: { $0.name == name }) {
            return .function(function, owner: self)
        }
        return .unknown
    }
}

extension LuaType {
    /// The alternative types, without nil.
    var alternatives: [LuaType] {
        switch self {
        case .optional(let inner), .variadic(let inner): inner.alternatives
        case .union(let types): types.flatMap(\.alternatives)
        default: [self]
        }
    }

    /// The fields of tables of options and of records among the alternatives.
    var fields: [LuaParameter] {
        alternatives.flatMap { type -> [LuaParameter] in
            switch type {
            case .options(let fields), .record(_, let fields): Array(fields)
            default: []
            }
        }
    }
}

/// The types of a callback's signature: `(item: Item) → boolean`.
struct CallbackSignature {
    let parameters: [LuaType]
    let results: [LuaType]

    init(_ text: String) {
        let characters = Array(text)
        let open = characters.firstIndex(of: "(") ?? 0
        let close = characters.lastIndex(of: ")") ?? 0
        let inner = open < close ? String(characters[open + 1..<close]) : ""
        parameters = Self.list(inner).map { part in
            let pieces = part.split(separator: ":", maxSplits: 1)
            return Self.type(pieces.count > 1 ? String(pieces[1]) : "any")
        }
        let arrow = characters.firstIndex(of: "→")
        results = arrow.map { Self.list(String(characters[($0 + 1)...])).map(Self.type) } ?? []
    }

    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { String($0.drop(while: \.isWhitespace)) }.filter { !$0.isEmpty }
    }

    private static func type(_ text: String) -> LuaType {
        let name = text.split(separator: " ").first.map(String.init) ?? ""
        return LuaLibrary.type(name) ?? (name.isEmpty ? .any : .object(name))
    }
}
