import PropertyList
import Wording

/// The tools as clients see them: names, schemas of arguments and results, and hints.
enum ToolCatalog {
    /// The tools by the client's list.
    ///
    /// - Parameter allowsChanges: whether `run` may keep what it changes.
    /// - Returns: the tools.
    static func tools(allowsChanges: Bool) -> [JSONValue] {
        declared.map { tool in
            var tool = tool
            let changes = allowsChanges && ["run", "undo"].contains(tool["name"]?.text)
            tool["annotations"] = .object([
                "readOnlyHint": .boolean(!changes), "destructiveHint": .boolean(changes),
                "idempotentHint": .boolean(!changes), "openWorldHint": .boolean(false),
            ])
            return tool
        }
    }

    static var names: [String] { declared.compactMap { $0["name"]?.text } }

    /// Whether a call may change items.
    static func isChanging(_ tool: String, _ arguments: JSONValue) -> Bool {
        tool == "undo" || tool == "run" && arguments["dry_run"]?.flag == false
    }

    /// Checks the arguments of a tool, and adds the defaults of those that are not given.
    ///
    /// - Returns: the arguments; nil for a tool that is not there.
    /// - Throws: `ToolError`, which names the first wrong argument.
    static func arguments(of tool: String, _ given: PropertyListFields) throws(ToolError) -> JSONValue? {
        guard let schema = declared.first(where: { $0["name"]?.text == tool })?["inputSchema"] else { return nil }
        let properties = schema["properties"]?.fields ?? [:]
        if let name = given.keys.sorted().first(where: { properties[$0] == nil }) {
            let hint = NearestNames.hint(for: name, among: properties.keys)
            throw ToolError("\(tool) has no argument '\(VisibleText.line(name.shortened(to: 100)))'\(hint)")
        }
        var arguments = given
        for (name, property) in properties.sortedByName where given[name] ?? .null == .null {
            arguments[name] = property["default"]
        }
        for (name, property) in properties.sortedByName {
            let value = arguments[name] ?? .null
            let isMissing = value == .null && schema["required"]?.elements?.contains(.string(name)) == true
            guard !isMissing, value == .null || fits(value, property) else {
                let problem = isMissing ? "is missing" : "does not fit"
                throw ToolError("the argument '\(name)' \(problem): \(property["description"]?.text ?? "")")
            }
        }
        return .fields(arguments)
    }

    private static func fits(_ value: JSONValue, _ schema: JSONValue) -> Bool {
        let range = (schema["minimum"]?.double ?? 0)...(schema["maximum"]?.double ?? .infinity)
        return switch (schema["type"]?.text, value) {
        case ("string", .string(let text)): text.utf8.count <= schema["maxLength"]?.number ?? .max
        case ("boolean", .boolean): true
        case ("integer", .integer): range.contains(value.double ?? -1)
        case ("number", _): range.contains(value.double ?? -1)
        default: false
        }
    }

    private static let declared = (try? JSONValue(json: PackageResources.tools_json))?.elements ?? []
}

extension JSONValue {
    /// A number.
    var double: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        default: nil
        }
    }
}

/// Why a tool does not do what it is called for. The text is the program's own.
struct ToolError: Error, CustomStringConvertible {
    let description: String

    init(_ text: String) { description = text }
}
