import Lua

/// Writes the declarations as LuaCATS annotations: a definition file for editors, which is never executed.
struct AnnotationWriter {
    private let reference: APIReference

    init(_ reference: APIReference) { self.reference = reference }

    /// Standard Lua is omitted: editors know it.
    var text: String {
        var lines = ["---@meta cubby", "", "-- Made by `cubby api --format luacats` for editors; nothing runs it.", ""]
        lines += eventClasses + recordClasses
        for declaration in reference.declarations where !declaration.isPartOfLua {
            switch declaration.kind {
            case .module: lines += module(declaration)
            case .class: lines += objects(declaration)
            case .global: lines += declaration.functions.flatMap { function($0, of: declaration) }
            }
        }
        return lines.joined(separator: "\n")
    }

    // MARK: Events

    private var eventClasses: [String] {
        var lines: [String] = []
        for owner in EventDeclaration.Owner.allCases {
            let events = reference.events.filter { $0.owner == owner }
            lines.append("---@alias \(Self.alias(owner))")
            lines += events.map { "---| \"\($0.name)\" # \($0.documentation)" }
            lines.append("")
            for event in events where !event.payload.isEmpty {
                lines += Self.comment(event.documentation)
                lines.append("---@class \(event.className): Event")
                lines += event.payload.map(Self.field)
                lines.append("")
            }
        }
        return lines
    }

    private static func alias(_ owner: EventDeclaration.Owner) -> String { "cubby.\(owner.rawValue).event" }

    /// Determines the type of the handler's event from the event's name.
    private func overloads(of function: LuaFunctionDeclaration, _ declaration: LuaDeclaration) -> [String] {
        guard Self.takesEvent(function) else { return [] }
        return reference.events(of: declaration).filter { !$0.payload.isEmpty }.map { event in
            let handler = "fun(event: \(event.className))"
            let options = Self.optionsClass(function, declaration, "options")
            let results = function.results.map { $0.annotation() }.joined(separator: ", ")
            return
                "---@overload fun(self: \(declaration.name), event: \"\(event.name)\", options: \(options)|\(handler), handler?: \(handler)): \(results)"
        }
    }

    private static func takesEvent(_ function: LuaFunctionDeclaration) -> Bool {
        function.name == "on" || function.name == "once"
    }

    // MARK: Modules and classes

    private func module(_ declaration: LuaDeclaration) -> [String] {
        var lines = optionsClasses(declaration) + Self.comment(declaration.documentation)
        lines.append("---@class cubby.\(declaration.name)")
        for call in declaration.functions where call.name.isEmpty {
            let parameters = call.parameters.map { parameter in
                let isOptional = parameter.type.isOptional && parameter.type != .any
                let type = Self.withoutNil(parameter.type).annotation(
                    options: Self.optionsClass(call, declaration, parameter.name))
                return "\(Self.name(parameter))\(isOptional ? "?" : ""): \(type)"
            }
            let results = call.results.map { $0.annotation() }.joined(separator: ", ")
            lines.append("---@overload fun(\(parameters.joined(separator: ", "))): \(results)")
        }
        lines += ["\(declaration.name) = {}", ""]
        for each in declaration.functions where !each.name.isEmpty { lines += function(each, of: declaration) }
        return lines
    }

    private func objects(_ declaration: LuaDeclaration) -> [String] {
        // A class without a global is local to a block: `date` is a class, and a module of the same name.
        let isLocal = !declaration.isGlobalObject && declaration.statics.isEmpty
        var lines = optionsClasses(declaration) + (isLocal ? ["do"] : []) + Self.comment(declaration.documentation)
        lines.append("---@class \(declaration.name)")
        for property in declaration.properties {
            let suffix = property.isReadOnly ? " Read-only." : ""
            lines.append("---@field \(property.name) \(property.type.annotation()) \(property.documentation)\(suffix)")
        }
        for each in declaration.operators {
            if each.name == "index", let key = each.operand {
                lines.append("---@field [\(key.annotation())] \(each.result.annotation()) \(each.documentation)")
            } else {
                let operand = each.operand.map { "(\($0.annotation()))" } ?? ""
                lines.append("---@operator \(each.name)\(operand): \(each.result.annotation())")
            }
        }
        lines += ["\(isLocal ? "local " : "")\(declaration.name) = {}", ""]
        for each in declaration.functions + declaration.statics { lines += function(each, of: declaration) }
        if isLocal { lines += ["end", ""] }
        return lines
    }

    // MARK: Functions

    private func function(_ function: LuaFunctionDeclaration, of declaration: LuaDeclaration) -> [String] {
        var lines = Self.comment(function.documentation)
        if !function.example.isEmpty { lines += ["---", "---```lua", "---\(function.example)", "---```"] }
        for parameter in function.parameters {
            if parameter.type.isVariadic {
                lines.append("---@param ... \(parameter.type.annotation()) \(parameter.documentation)")
                continue
            }
            let isOptional = parameter.type.isOptional && parameter.type != .any
            var type = Self.withoutNil(parameter.type).annotation(
                options: Self.optionsClass(function, declaration, parameter.name))
            if parameter.name == "event", Self.takesEvent(function),
                let owner = EventDeclaration.Owner(rawValue: declaration.name)
            {
                type = Self.alias(owner) + (owner == .app ? "|string" : "")
            }
            lines.append(
                "---@param \(parameter.name)\(isOptional ? "?" : "") \(type) \(parameter.documentation)")
        }
        for result in function.results {
            lines.append("---@return \(result.annotation())\(result.isVariadic ? " ..." : "")")
        }
        lines += overloads(of: function, declaration)
        let owner =
            function.name.isEmpty
            ? declaration.name : declaration.name + declaration.separator(of: function) + function.name
        return lines + ["function \(owner)(\(function.parameters.map(Self.name).joined(separator: ", "))) end", ""]
    }

    /// A class for each table of options.
    private func optionsClasses(_ declaration: LuaDeclaration) -> [String] {
        (declaration.functions + declaration.statics).flatMap { function in
            function.parameters.flatMap { parameter -> [String] in
                guard let options = parameter.type.options else { return [] }
                return ["---@class \(Self.optionsClass(function, declaration, parameter.name))"]
                    + options.map { option in
                        Self.field(LuaParameter(option.name, .optional(option.type), option.documentation))
                    } + [""]
            }
        }
    }

    /// A class for each record, nested ones included, by name.
    private var recordClasses: [String] {
        var records: [String: [LuaParameter]] = [:]
        func add(_ type: LuaType) {
            guard let record = type.record, records.updateValue(record.fields, forKey: record.name) == nil else {
                return
            }
            for field in record.fields { add(field.type) }
        }
        for declaration in reference.declarations {
            declaration.properties.forEach { add($0.type) }
            for function in declaration.functions + declaration.statics {
                function.parameters.forEach { add($0.type) }
                function.results.forEach(add)
            }
        }
        for event in EventDeclaration.all { event.payload.forEach { add($0.type) } }
        return records.sorted { $0.key < $1.key }.flatMap { name, fields in
            ["---@class cubby.\(name)"] + fields.map(Self.field) + [""]
        }
    }

    private static func optionsClass(
        _ function: LuaFunctionDeclaration, _ declaration: LuaDeclaration, _ parameter: String
    ) -> String {
        // A module that is called has a function without a name.
        let owner = function.name.isEmpty ? declaration.name : "\(declaration.name).\(function.name)"
        return "cubby.\(owner).\(parameter)"
    }

    // MARK: Words

    private static func field(_ field: LuaParameter) -> String {
        let mark = field.type.isOptional && field.type != .any ? "?" : ""
        return "---@field \(field.name)\(mark) \(withoutNil(field.type).annotation()) \(field.documentation)"
    }

    private static func withoutNil(_ type: LuaType) -> LuaType {
        if case .optional(let inner) = type { inner } else { type }
    }

    private static func name(_ parameter: LuaParameter) -> String {
        parameter.type.isVariadic ? "..." : parameter.name
    }

    private static func comment(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { "---\($0)" }
    }
}

extension LuaType {
    /// The type in LuaCATS notation.
    ///
    /// - Parameter options: the name of the class for a table of options.
    /// - Returns: `string`, `Item[]`, `fun(item: Item): boolean`.
    func annotation(options: String = "table") -> String {
        switch self {
        case .any: "any"
        case .boolean: "boolean"
        case .integer: "integer"
        case .number: "number"
        case .string, .text: "string"
        case .table: "table"
        case .function: "function"
        case .callback(let signature): "fun" + signature.replacing(" → ", with: ": ")
        case .object(let name): name
        case .array(let element): "\(element.grouped(options))[]"
        case .choice(let words): words.map { "\"\($0)\"" }.joined(separator: "|")
        case .options: options
        case .record(let name, _): "cubby.\(name)"
        case .union(let types): types.map { $0.member(options) }.joined(separator: "|")
        case .optional(.any): "any"
        case .optional(let inner): "\(inner.grouped(options))?"
        case .variadic(let inner): inner.annotation(options: options)
        }
    }

    /// As a member of a union; a callback's result type would include the following members.
    private func member(_ options: String) -> String {
        if case .callback(let signature) = self, signature.contains("→") { return grouped(options) }
        return annotation(options: options)
    }

    /// In parentheses where a following operator would bind to the last member only.
    private func grouped(_ options: String) -> String {
        switch self {
        case .union, .choice, .callback: "(\(annotation(options: options)))"
        default: annotation(options: options)
        }
    }

    /// The options of an options table, also within an optional or a union.
    var options: [LuaParameter]? {
        switch self {
        case .options(let options): options.all
        case .optional(let inner): inner.options
        case .union(let types): types.lazy.compactMap(\.options).first
        default: nil
        }
    }

    /// The name and the fields of a record, also within another type.
    var record: (name: String, fields: [LuaParameter])? {
        switch self {
        case .record(let name, let fields): (name, fields.all)
        case .optional(let inner), .array(let inner), .variadic(let inner): inner.record
        case .union(let types): types.lazy.compactMap(\.record).first
        default: nil
        }
    }
}
