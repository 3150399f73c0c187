import PropertyList
import Wording

/// The tools as clients see them: names, schemas of arguments and results, and hints.
enum ToolCatalog {
    private static let declared = (try? JSONValue(json: PackageResources.tools_json))?.elements ?? []

    /// The tools by the client's list.
    ///
    /// - Parameter allowsChanges: whether `run` may keep what it changes.
    /// - Returns: the tools.
    static func tools(allowsChanges: Bool) -> [JSONValue] {
        declared.map { tool in
            var tool = tool
            let changes = allowsChanges && ["run", "undo"].contains(tool["name"]?.text)
            tool["annotations"] = .of([
                "readOnlyHint": !changes, "destructiveHint": changes, "idempotentHint": !changes,
                "openWorldHint": false,
            ])
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
    static func arguments(
        of tool: String, _ given: PropertyListFields, allowsChanges: Bool
    ) throws(Denial) -> JSONValue {
        func quoted(_ name: String, _ names: some Sequence<String>) -> String {
            "'\(VisibleText.line(name.shortened(to: 100)))'\(NearestNames.hint(for: name, among: names))"
        }
        guard let schema = declared.first(where: { $0["name"]?.text == tool })?["inputSchema"] else {
            throw Denial(.parameters, "there is no tool \(quoted(tool, declared.compactMap { $0["name"]?.text }))")
        }
        let properties = schema["properties"]?.fields ?? [:]
        if let name = given.keys.sorted().first(where: { properties[$0] == nil }) {
            throw Denial("\(tool) has no argument \(quoted(name, properties.keys))")
        }
        var arguments = given
        for (name, property) in properties.sortedByName {
            let value = given[name].flatMap { $0 == .null ? nil : $0 } ?? property["default"]
            arguments[name] = value
            let isMissing = value == nil && schema["required"]?.elements?.contains(.string(name)) == true
            guard !isMissing, value.map({ fits($0, property) }) != false else {
                let problem = isMissing ? "is missing" : "does not fit"
                throw Denial("the argument '\(name)' \(problem): \(property["description"]?.text ?? "")")
            }
        }
        if isChanging(tool, .fields(arguments)), !allowsChanges {
            throw Denial(
                "nothing is changed here: cubby mcp was started without --allow-changes; a dry run shows a difference")
        }
        return .fields(arguments)
    }

    private static func fits(_ value: JSONValue, _ schema: JSONValue) -> Bool {
        let range = (schema["minimum"]?.double ?? 0)...(schema["maximum"]?.double ?? .infinity)
        return switch (schema["type"]?.text, value) {
        case ("string", .string(let text)): text.utf8.count <= schema["maxLength"]?.number ?? .max
        case ("boolean", .boolean): true
        case ("integer", .integer), ("number", _): range.contains(value.double ?? -1)
        default: false
        }
    }
}
