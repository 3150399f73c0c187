import Lua
import PropertyList
import Scripting

/// Variables at a break.
extension DebugSession {
    /// Maximum number of variables in a response.
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
        var found: [DebugVariable] = []
        if filter != "named" {
            for index in range(0..<children.count, filter == nil ? .object([:]) : arguments) {
                found.append(child(.integer(Int64(index + 1)), "[\(index + 1)]", children, container))
            }
        }
        if filter != "indexed" {
            for index in range(0..<children.named.count, filter == nil ? .object([:]) : arguments) {
                let entry = children.named[index]
                found.append(child(entry.key, entry.name, children, container))
            }
        }
        return filter == nil ? page(found, arguments) : found
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
        Array(variables[range(variables.indices, arguments)])
    }

    /// The requested part of a list, limited to the maximum length of a response.
    private func range(_ all: Range<Int>, _ arguments: JSONValue) -> Range<Int> {
        let start = min(max(arguments["start"]?.number ?? 0, 0), all.upperBound)
        let count = arguments["count"]?.number ?? 0
        let wanted = count > 0 ? min(count, Self.limit) : Self.limit
        return start..<min(start + wanted, all.upperBound)
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
            "type": .string(typeName(value)), "variablesReference": .number(0),
        ]
        guard text == nil, ValueChildren.has(value, in: host) else { return fields }
        let container = VariableContainer(kind: .value(value), call: call, expression: expression)
        fields["variablesReference"] = .number(stop.reference(to: container))
        if case .table(let table) = value {
            let count = ValueChildren.contents(of: table, in: host).count
            if count > 0 { fields["indexedVariables"] = .number(count) }
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
        // The line break ends a comment at the end of the value.
        _ = try value(of: "\(expression) = (\(text)\n)", call, stop)
        stop.forgetChildren()
        return .fields(described(try value(of: expression, call, stop), expression, call, stop))
    }

    private func value(of text: String, _ call: Int, _ stop: DebugStop) throws(DebugError) -> LuaValue {
        switch stop.stop.evaluate(text, in: call, seconds: ScriptDebugger.evaluationLimit) {
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
