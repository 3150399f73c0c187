import PropertyList

/// The methods of the protocol, and the tools as clients see them: what they take, and what is the same in each answer.
enum ToolCatalog {
    private static let methods = (try? JSONValue(json: PackageResources.methods_json))?.elements ?? []
    private static let tools = (try? JSONValue(json: PackageResources.tools_json))?.elements ?? []

    /// Finds a method, and checks its parameters.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - version: the revision of the protocol in force.
    ///   - parameters: an object.
    /// - Returns: the parameters of the method, and what its result always has; nil for one whose result follows later.
    /// - Throws: `Denial`.
    static func method(
        _ name: String, in version: String, _ parameters: JSONValue
    ) throws(Denial) -> (parameters: JSONValue, result: JSONValue?) {
        let served = methods.filter { $0["revision"]?.text ?? version == version }
        let method = try find("method", name, in: served, orThrow: .method)
        return (try checked(parameters, by: method, orThrow: .parameters), method["result"])
    }

    /// The tools by the client's list: without the right to change items, each is one that reads.
    static func tools(allowsChanges: Bool) -> [JSONValue] {
        if allowsChanges { return tools }
        let hints = tools.compactMap { $0["annotations"] }.first { $0["readOnlyHint"]?.flag == true }
        return tools.map { tool in
            var tool = tool
            tool["annotations"] = hints
            return tool
        }
    }

    /// Whether a call may change items.
    static func isChanging(_ tool: String, _ arguments: JSONValue?) -> Bool {
        tool == "undo" || tool == "run" && arguments?["dry_run"]?.flag == false
    }

    /// Checks the arguments of a tool, and adds the defaults of those that are not given.
    ///
    /// - Returns: the arguments.
    /// - Throws: `Denial`, which names the first wrong argument; with another code than `tool` for one that is not there.
    static func arguments(of tool: String, _ given: JSONValue?, allowsChanges: Bool) throws(Denial) -> JSONValue {
        let declaration = try find("tool", tool, in: tools, orThrow: .parameters)
        let arguments = try checked(given ?? .null, by: declaration, orThrow: .tool)
        if isChanging(tool, arguments), !allowsChanges {
            throw Denial(
                "nothing is changed here: cubby mcp was started without --allow-changes; a dry run shows a difference")
        }
        return arguments
    }

    private static func find(
        _ kind: String, _ name: String, in list: [JSONValue], orThrow code: Denial.Code
    ) throws(Denial) -> JSONValue {
        if let found = list.first(where: { $0["name"]?.text == name }) { return found }
        throw Denial("there is no \(kind) \(quoted(name, list.compactMap { $0["name"]?.text }))", code)
    }

    private static func quoted(_ name: String, _ names: [String]) -> String {
        "'\(VisibleText.line(name.shortened(to: 100)))'\(NearestNames.hint(for: name, among: names))"
    }

    /// The arguments that a schema has, with its defaults.
    private static func checked(
        _ given: JSONValue, by declaration: JSONValue, orThrow code: Denial.Code
    ) throws(Denial) -> JSONValue {
        let schema = declaration["inputSchema"]
        let properties = schema?["properties"]?.fields ?? [:]
        let unknown = (given.fields ?? [:]).keys.sorted().first { properties[$0] == nil }
        if let unknown, schema?["additionalProperties"] != nil {
            let tool = declaration["name"]?.text ?? ""
            throw Denial("\(tool) has no argument \(quoted(unknown, properties.keys.sorted()))", code)
        }
        var arguments: PropertyListFields = [:]
        for (name, property) in properties.sortedByName {
            let value = given[name] ?? property["default"]
            arguments[name] = value
            let isMissing = value == nil && schema?["required"]?.elements?.contains(.string(name)) == true
            guard !isMissing, value.map({ fits($0, property) }) != false else {
                let problem = isMissing ? "is missing" : "does not fit"
                throw Denial("the argument '\(name)' \(problem): \(property["description"]?.text ?? "")", code)
            }
        }
        return .fields(arguments)
    }

    private static func fits(_ value: JSONValue, _ schema: JSONValue) -> Bool {
        let range = (schema["minimum"]?.double ?? 0)...(schema["maximum"]?.double ?? .infinity)
        return switch (schema["type"]?.text, value) {
        case ("string", .string(let text)): text.utf8.count <= schema["maxLength"]?.number ?? .max
        case ("boolean", .boolean), ("object", .dictionary): true
        case ("integer", .integer), ("number", _): range.contains(value.double ?? -1)
        default: false
        }
    }
}

/// Why something is refused. The text is the program's own.
struct Denial: Error, CustomStringConvertible {
    /// The errors of the protocol.
    enum Code: Int {
        case parse = -32700
        case request = -32600
        case method = -32601
        case parameters = -32602
        case inside = -32603
        case busy = -32000
        case resource = -32002
        case version = -32022
        /// An error of a tool, which its answer has.
        case tool = 0
    }

    let code: Code
    let description: String
    let data: JSONValue?

    init(_ description: String, _ code: Code = .tool, data: JSONValue? = nil) {
        (self.description, self.code, self.data) = (description, code, data)
    }
}
