import Items
import Lua
import PropertyList
import Scripting

/// Variables at a break.
extension DebugSession {
    /// Maximum numbers of elements and of other variables in a response.
    private static let limit = 2000

    func variables(_ arguments: JSONValue) throws(DebugError) -> JSONValue {
        let stop = try stop
        guard let reference = arguments["variablesReference"]?.number else { throw DebugError("there is no number") }
        let container = try stop.container(reference)
        let found: [DebugVariable]
        switch container.kind {
        case .locals: found = page(locals(container.call, stop), arguments)
        case .upvalues: found = page(stop.stop.stop.upvalues(of: container.call).map(Self.variable), arguments)
        case .value(let value): found = children(reference, value, container, arguments, stop)
        }
        return .object(["variables": .array(found.map { variable($0, container.call, stop) })])
    }

    private static func variable(_ variable: LuaBreak.Variable) -> DebugVariable {
        DebugVariable(name: variable.name, value: variable.value, expression: variable.name)
    }

    private func locals(_ call: Int, _ stop: DebugStop) -> [DebugVariable] {
        let extra = stop.stop.stop.varargs(of: call).enumerated().map { index, value in
            DebugVariable(name: "...[\(index + 1)]", value: value, expression: "(select(\(index + 1), ...))")
        }
        return stop.stop.stop.locals(of: call).map(Self.variable) + extra
    }

    /// The requested children of a value: all, or a page of the indexed or of the named ones.
    private func children(
        _ reference: Int, _ value: LuaValue, _ container: VariableContainer, _ arguments: JSONValue, _ stop: DebugStop
    ) -> [DebugVariable] {
        let children = stop.children(reference, of: value, in: host)
        let filter = arguments["filter"]?.text
        let count = filter == "named" ? 0 : children.count
        let named = filter == "indexed" ? [] : children.named
        let wanted = Self.range(count + named.count, arguments)
        let hidden = filter != "indexed" && wanted.isOpen ? children.hiddenCount : 0
        // Many elements do not hide the names behind them.
        return rows(wanted.range.clamped(to: 0..<count)) {
            child(.integer(Int64($0 + 1)), "[\($0 + 1)]", children, container)
        }
            + rows(wanted.range.clamped(to: count..<count + named.count), hidden: hidden) {
                child(named[$0 - count].key, named[$0 - count].name, children, container)
            }
    }

    private func child(
        _ key: LuaValue, _ name: String, _ children: ValueChildren, _ container: VariableContainer
    ) -> DebugVariable {
        let expression = ValueChildren.expression(key, of: container.expression)
        switch children.value(of: key) {
        case .success(let value): return DebugVariable(name: name, value: value, expression: expression)
        case .failure(let error):
            return DebugVariable(name: name, value: .nil, expression: expression, text: "error: \(error.message)")
        }
    }

    private func page(_ variables: [DebugVariable], _ arguments: JSONValue) -> [DebugVariable] {
        rows(Self.range(variables.count, arguments).range) { variables[$0] }
    }

    /// The first variables of a range, and a row that says how many more there are.
    private func rows(_ range: Range<Int>, hidden: Int = 0, _ variable: (Int) -> DebugVariable) -> [DebugVariable] {
        let shown = range.prefix(Self.limit)
        let rest = range.count - shown.count + hidden
        if rest == 0 { return shown.map(variable) }
        let text = "\(rest.grouped) more \(rest == 1 ? "is" : "are") not shown"
        return shown.map(variable) + [DebugVariable(name: "…", value: .nil, text: text)]
    }

    /// The requested part of a list, and whether it also has what is beyond the list.
    private static func range(_ count: Int, _ arguments: JSONValue) -> (range: Range<Int>, isOpen: Bool) {
        let start = max(arguments["start"]?.number ?? 0, 0)
        let wanted = arguments["count"]?.number ?? 0
        let end = wanted > 0 ? start.addingReportingOverflow(wanted) : (Int.max, false)
        let last = end.1 ? Int.max : end.0
        return (min(start, count)..<min(last, count), last > count)
    }

    // MARK: Values

    /// A variable as a `Variable`.
    private func variable(_ variable: DebugVariable, _ call: Int, _ stop: DebugStop) -> JSONValue {
        var fields = described(variable.value, variable.expression, call, stop, text: variable.text)
        fields["name"] = .string(variable.name)
        fields["evaluateName"] = variable.expression.map(JSONValue.string)
        return .fields(fields)
    }

    /// A value's text, type, and variables reference.
    func described(
        _ value: LuaValue, _ expression: String?, _ call: Int, _ stop: DebugStop, text: String? = nil
    ) -> PropertyListFields {
        var fields: PropertyListFields = [
            "value": .string(text ?? ValueText(host: host, stop: stop.stop).describe(value)),
            "variablesReference": .number(0),
        ]
        if text == nil { fields["type"] = .string(typeName(value)) }
        guard text == nil, ValueChildren.has(value, in: host) else { return fields }
        let container = VariableContainer(kind: .value(value), call: call, expression: expression)
        fields["variablesReference"] = .number(stop.reference(to: container))
        if case .table(let table) = value {
            let contents = ValueChildren.contents(of: table, in: host)
            let (count, named) = (contents.count, ValueChildren.countNamed(in: contents))
            // A client that knows of elements alone would not ask for the others.
            if count > 0 { fields["indexedVariables"] = .number(count) }
            if count > 0, named > 0 { fields["namedVariables"] = .number(named) }
        }
        return fields
    }

    private func typeName(_ value: LuaValue) -> String {
        if case .userdata(let userdata) = value, let name = userdata.className { return name }
        return value.typeName
    }

    // MARK: Assignments

    func setVariable(_ arguments: JSONValue) throws(DebugError) -> JSONValue {
        let stop = try stop
        guard let reference = arguments["variablesReference"]?.number, let name = arguments["name"]?.text,
            let text = arguments["value"]?.text
        else { throw DebugError("an assignment needs a variable and a value") }
        let container = try stop.container(reference)
        let variables: [LuaBreak.Variable]
        switch container.kind {
        case .locals: variables = stop.stop.stop.locals(of: container.call)
        case .upvalues: variables = stop.stop.stop.upvalues(of: container.call)
        case .value(let value):
            guard let key = key(name, reference, value, stop),
                let expression = ValueChildren.expression(key, of: container.expression)
            else { throw DebugError("\(name) cannot be assigned here") }
            return try assign(expression, text, container.call, stop)
        }
        guard let variable = variables.first(where: { $0.name == name }) else {
            throw DebugError("there is no variable \(name)")
        }
        let value = try self.value(of: text, container.call, stop)
        stop.stop.stop.set(variable, of: container.call, to: value)
        stop.forgetChildren()
        return .fields(described(value, name, container.call, stop))
    }

    private func key(_ name: String, _ reference: Int, _ value: LuaValue, _ stop: DebugStop) -> LuaValue? {
        let children = stop.children(reference, of: value, in: host)
        if let entry = children.named.first(where: { $0.name == name }) { return entry.key }
        guard name.hasPrefix("["), name.hasSuffix("]"), let index = Int64(name.dropFirst().dropLast()),
            index >= 1, index <= children.count
        else { return nil }
        return .integer(index)
    }

    func setExpression(_ arguments: JSONValue) throws(DebugError) -> JSONValue {
        let stop = try stop
        guard let expression = arguments["expression"]?.text, let text = arguments["value"]?.text else {
            throw DebugError("an assignment needs an expression and a value")
        }
        return try assign(expression, text, try call(arguments, stop), stop)
    }

    /// Assigns as the script would: an item validates the value and notifies its observers.
    private func assign(_ expression: String, _ text: String, _ call: Int, _ stop: DebugStop) throws(DebugError)
        -> JSONValue
    {
        do throws(LuaError) {
            for part in [expression, text] {
                _ = try host.state.loadExpression(part, name: "=(break)", environment: nil)
            }
        } catch { throw DebugError(error.message) }
        // The line break ends a comment at the end of the value.
        _ = try value(of: "\(expression) = (\(text)\n)", call, stop, as: .entry)
        stop.forgetChildren()
        return .fields(described(try value(of: expression, call, stop), expression, call, stop))
    }

    private func value(
        of text: String, _ call: Int, _ stop: DebugStop, as kind: LuaBreakText = .expression
    ) throws(DebugError) -> LuaValue {
        switch stop.stop.evaluate(text, in: call, as: kind, seconds: ScriptDebugger.evaluationLimit) {
        case .success(let values): return values.first ?? .nil
        case .failure(let error): throw DebugError(error.message)
        }
    }

    // MARK: Expressions

    func evaluate(_ arguments: JSONValue) throws(DebugError) -> JSONValue {
        let stop = try stop
        guard let text = arguments["expression"]?.text else { throw DebugError("there is no expression") }
        let call = try call(arguments, stop)
        let context = arguments["context"]?.text
        let isEntry = context == "repl"
        let limit = isEntry ? nil : ScriptDebugger.evaluationLimit
        // What the client evaluates by itself, again and again, only looks.
        let kind: LuaBreakText = context == "watch" || context == "hover" ? .expression : .entry
        switch stop.stop.evaluate(text, in: call, as: kind, seconds: limit, willRun: lookAgain) {
        case .failure(let error): throw DebugError(error.message)
        case .success(let values):
            stop.forgetChildren()
            let texts = ValueText(host: host, stop: stop.stop)
            var fields: PropertyListFields = ["variablesReference": .number(0)]
            if values.count == 1 { fields = described(values[0], isEntry ? nil : text, call, stop) }
            fields["value"] = nil
            fields["result"] = .string(
                values.map { context == "clipboard" ? texts.whole($0) : texts.describe($0) }.joined(separator: ", "))
            return .fields(fields)
        }
    }
}

/// A set of variables that the client expands during a break.
struct VariableContainer {
    enum Kind {
        /// The local variables of a call, and its variable arguments.
        case locals
        case upvalues
        case value(LuaValue)
    }

    let kind: Kind
    /// The call in which it is visible.
    let call: Int
    /// The expression for a value; nil if there is none.
    var expression: String?
}

/// A variable for the client.
struct DebugVariable {
    var name: String
    var value: LuaValue
    /// The expression for it; nil if there is none.
    var expression: String?
    /// The text shown instead of the value: why it cannot be read.
    var text: String?
}

/// A value's children: a table's entries, an item's fields, or an object's properties.
struct ValueChildren {
    /// An entry: its name, and its key in Lua.
    struct Entry {
        let name: String
        let key: LuaValue
    }

    /// Maximum number of a table's named entries that are listed.
    static let limit = 10_000

    let stop: ScriptBreak
    private let value: LuaValue
    /// The number of elements, counted from 1.
    let count: Int
    /// The other entries, sorted by name.
    let named: [Entry]
    /// The number of entries that are not listed.
    let hiddenCount: Int

    /// Reads a value's children at a break.
    init(_ value: LuaValue, in host: ScriptHost, at stop: ScriptBreak) {
        self.stop = stop
        switch value {
        case .table(let given):
            let table = Self.contents(of: given, in: host)
            self.value = .table(table)
            count = table.count
            (named, hiddenCount) = Self.entries(of: table, beyond: count)
        case .userdata(let userdata):
            // A query's children are its items, fetched when it is expanded.
            if case .query = host.inspect(value),
                case .success(.table(let items)) = stop.value(of: "(...):all()", value)
            {
                (self.value, count) = (.table(items), items.count)
                (named, hiddenCount) = ([], 0)
            } else {
                (self.value, count) = (value, 0)
                (named, hiddenCount) = (Self.properties(of: userdata, value, in: host), 0)
            }
        default:
            (self.value, count) = (value, 0)
            (named, hiddenCount) = ([], 0)
        }
    }

    /// Whether a value has children, as far as this is known without running code.
    static func has(_ value: LuaValue, in host: ScriptHost) -> Bool {
        switch value {
        case .table(let given):
            let table = contents(of: given, in: host)
            var isEmpty = true
            try? table.forEach { _, _ in
                isEmpty = false
                return false
            }
            return !isEmpty
        case .userdata(let userdata): return userdata.className != nil
        default: return false
        }
    }

    /// The value of an entry, or the error of reading it.
    func value(of key: LuaValue) -> Result<LuaValue, LuaError> {
        if case .table(let table) = value { return .success(table[key]) }
        return stop.value(of: "(...)[select(2, ...)]", value, key)
    }

    /// The table behind a read-only table of the host; otherwise the table itself.
    static func contents(of table: LuaTable, in host: ScriptHost) -> LuaTable {
        guard table.count == 0, table.metatable != nil, case .contents(let contents) = host.inspect(.table(table))
        else {
            return table
        }
        return contents
    }

    /// A key in the notation of a table constructor: `room`, `["shelf 3"]`, `[true]`.
    static func name(of key: LuaValue) -> String {
        if let name = key.textValue, LuaName.isValid(name) { return name }
        return "[\(literal(key) ?? key.typeName)]"
    }

    /// The expression of an entry: `lamp.room`, `rooms["shelf 3"]`; nil if the key cannot be written.
    static func expression(_ key: LuaValue, of expression: String?) -> String? {
        guard let expression else { return nil }
        if let name = key.textValue, LuaName.isValid(name) { return "\(expression).\(name)" }
        return literal(key).map { "\(expression)[\($0)]" }
    }

    private static func literal(_ key: LuaValue) -> String? {
        switch key {
        case .string(let string): return string.quoted()
        case .boolean, .integer, .number:
            var text = LuaValueText()
            return text.describe(key)
        default: return nil
        }
    }

    private static func entries(of table: LuaTable, beyond count: Int) -> (named: [Entry], hiddenCount: Int) {
        var (entries, hidden): ([Entry], Int) = ([], 0)
        try? table.forEach { key, _ in
            if case .integer(let index) = key, index >= 1, index <= count { return true }
            if entries.count < limit { entries.append(Entry(name: name(of: key), key: key)) } else { hidden += 1 }
            return true
        }
        return (entries.sorted { $0.name < $1.name }, hidden)
    }

    /// The number of a table's named rows: its entries beside the elements and, if not all are listed, that of the others.
    static func countNamed(in table: LuaTable) -> Int {
        let count = table.count
        var named = 0
        try? table.forEach { key, _ in
            if case .integer(let index) = key, index >= 1, index <= count { return true }
            named += 1
            return named <= limit
        }
        return named
    }

    /// The properties of an object: an item's fields, or those that its class declares.
    private static func properties(of userdata: LuaUserdata, _ value: LuaValue, in host: ScriptHost) -> [Entry] {
        var names: [String]
        if case .item(let item) = host.inspect(value) {
            names = host.items.schema.names
            names += (try? item.customFieldNames) ?? []
        } else {
            let declared = userdata.className.flatMap { host.state.declarations[$0, .class] }
            names = declared?.properties.map(\.name) ?? []
        }
        return names.map { Entry(name: name(of: .text($0)), key: .text($0)) }
    }
}

/// A value in one short line, for a list of variables.
struct ValueText {
    let host: ScriptHost
    let stop: ScriptBreak
    /// Maximum number of elements and of other entries shown.
    private static let entries = 6
    /// Maximum length of the text in characters.
    private static let limit = 200
    /// Maximum length of a string in characters.
    private static let stringLimit = 1000

    /// The text of a value. Script code that it runs has a time limit.
    func describe(_ value: LuaValue) -> String {
        switch value {
        case .table(let table):
            guard let metatable = table.metatable, !metatable["__tostring"].isNil else { return summary(table) }
            switch stop.value(of: "tostring(...)", value) {
            case .success(let text): return cut(text.textValue ?? "table")
            case .failure(let error): return "table (tostring: \(VisibleText.line(error.message)))"
            }
        case .userdata(let userdata) where userdata.className == nil: return "userdata"
        case .userdata, .thread: return cut(host.state.describe(value).description)
        case .string(let string): return string.quoted(limit: Self.stringLimit)
        default: return plain(value)
        }
    }

    /// A value's whole text, for the clipboard.
    func whole(_ value: LuaValue) -> String {
        var limits = LuaValueText.Limits()
        (limits.elements, limits.string, limits.bytes) = (1000, .max, 1 << 20)
        return plain(value, limits)
    }

    private func plain(_ value: LuaValue, _ limits: LuaValueText.Limits = LuaValueText.Limits()) -> String {
        var text = LuaValueText(limits)
        return text.describe(value)
    }

    private func cut(_ text: String) -> String {
        let text = VisibleText.line(text)
        return text.count > Self.limit ? text.prefix(Self.limit) + "…" : text
    }

    /// `{ 1, 2, … (40 elements), room = "Hall" }`: the first entries, with nested tables as `{…}`.
    private func summary(_ table: LuaTable) -> String {
        let table = ValueChildren.contents(of: table, in: host)
        let count = table.count
        var parts: [String] = []
        for index in 1..<(min(count, Self.entries) + 1) { parts.append(element(table[index])) }
        if count > parts.count { parts.append("… (\(count.counted("element")))") }
        var left = Self.entries
        try? table.forEach { key, value in
            if case .integer(let index) = key, index >= 1, index <= count { return true }
            guard left > 0 else {
                parts.append("…")
                return false
            }
            left -= 1
            parts.append("\(ValueChildren.name(of: key)) = \(element(value))")
            return true
        }
        return parts.isEmpty ? "{}" : cut("{ \(parts.joined(separator: ", ")) }")
    }

    private func element(_ value: LuaValue) -> String {
        switch value {
        case .table: "{…}"
        case .string(let string): string.quoted(limit: 40)
        case .function: "function"
        default: describe(value)
        }
    }
}
