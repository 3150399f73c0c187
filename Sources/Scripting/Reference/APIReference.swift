import Application
import Files
package import Lua
import PropertyList

/// The reference of a host's declarations, for people, editors and programs.
///
/// A value: equal declarations produce equal texts, byte for byte.
public struct APIReference: Sendable {
    /// Modules, then classes, then functions, each by name.
    package let declarations: [LuaDeclaration]
    package let events: [EventDeclaration]

    /// The reference of a host.
    public init(_ host: ScriptHost) {
        declarations = host.state.declarations.all.sorted { ($0.rank, $0.name) < ($1.rank, $1.name) }
        events = EventDeclaration.all
    }

    /// The reference of a plain host with some modules, opened in a temporary folder.
    ///
    /// - Throws: `FileError` when the folder can't be created, and the errors of opening a host.
    package static func plain(_ modules: [any ScriptModule.Type]) throws -> APIReference {
        let base = ProcessEnvironment.value("TMPDIR") ?? "/tmp"
        let path = PathText.join(base, "cubby-\(UUIDModule.make())")
        let layer = PosixFileLayer()
        try layer.makeDirectories(path)
        defer { FolderRemover.remove(path, using: layer) }
        var options = ScriptHostOptions(container: ApplicationContainer(path: path))
        options.handlesSignals = false
        options.runsInitScript = false
        return APIReference(try ScriptHost(options, modules: modules))
    }

    /// The whole reference as one text.
    ///
    /// - Throws: for JSON only.
    public func text(_ format: ReferenceFormat) throws(EncodingError) -> String {
        switch format {
        case .luacats: AnnotationWriter(self).text
        case .markdown: pages.map(\.text).joined(separator: "\n")
        case .json: try ReferenceDocument(reference: self).json()
        }
    }

    /// The reference as files: the pages of Markdown, or one file.
    ///
    /// - Throws: for JSON only.
    public func files(_ format: ReferenceFormat) throws(EncodingError) -> [ReferencePage] {
        switch format {
        case .luacats: [ReferencePage(path: "cubby.lua", text: try text(format))]
        case .markdown: pages
        case .json: [ReferencePage(path: "cubby.json", text: try text(format))]
        }
    }

    /// The pages in Markdown, the index first.
    package var pages: [ReferencePage] { MarkdownWriter(self).pages }

    /// The settings of editors and linters for a folder of scripts, including annotations, and a first test.
    public var editorFiles: [ReferencePage] { EditorSettings(self).files + [FirstTest.file] }

    /// The paths of files that belong to the user once they exist: they are never replaced.
    package static let usersFiles = [EditorSettings.launch, FirstTest.file.path]

    /// The events that an object's `on` accepts.
    func events(of declaration: LuaDeclaration) -> [EventDeclaration] {
        events.filter { $0.owner.rawValue == declaration.name && declaration.kind == .class }
    }
}

extension LuaDeclaration {
    fileprivate var rank: Int {
        switch kind {
        case .module: 0
        case .class: 1
        case .global: 2
        }
    }
}

/// A file of the reference, or of an editor's settings.
public struct ReferencePage: Sendable, Equatable {
    /// The file's path relative to its folder.
    public let path: String
    /// The page's text.
    public let text: String
}

/// The formats of the reference.
public enum ReferenceFormat: String, Sendable, CaseIterable {
    /// Annotations for lua-language-server and other editors.
    case luacats
    /// Markdown, a page for each module.
    case markdown
    /// JSON, for tools.
    case json
}

/// Writes the declarations as pages: an index, one page for each module with its class, and the events.
struct MarkdownWriter {
    private let reference: APIReference

    init(_ reference: APIReference) { self.reference = reference }

    private static let notice =
        "<!-- Made from the declarations by scripts/reference: change those, in Sources/Scripting, and run it again. -->"

    var pages: [ReferencePage] {
        // A module and a class whose names differ in case only share a page: some file systems ignore case.
        let groups = Dictionary(grouping: reference.declarations) { $0.name.lowercased() }
        let names = groups.keys.sorted()
        let pages = names.map { name in ReferencePage(path: "\(name).md", text: page(groups[name] ?? [])) }
        let index = ReferencePage(path: "index.md", text: index(names.map { ($0, groups[$0] ?? []) }))
        return [index] + pages + [ReferencePage(path: "events.md", text: eventsPage)]
    }

    // MARK: Pages

    private func index(_ pages: [(name: String, declarations: [LuaDeclaration])]) -> String {
        var lines = [Self.notice, "", "# Reference", "", "What scripts can use, and editors know by `cubby init`.", ""]
        let globals = pages.filter { $0.declarations.contains(where: \.isGlobal) }
        let classes = pages.filter { !$0.declarations.contains(where: \.isGlobal) }
        lines += ["## Globals", "", "| | |", "| --- | --- |"] + globals.map { Self.row($0.name, $0.declarations) }
        lines += ["", "## Objects", "", "| | |", "| --- | --- |"] + classes.map { Self.row($0.name, $0.declarations) }
        lines += ["", "## Events", "", "[What `app:on` and `items:on` take](events.md), with what handlers are given."]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func row(_ page: String, _ declarations: [LuaDeclaration]) -> String {
        let first = declarations.first
        return "| [`\(first?.name ?? page)`](\(page).md) | \(escape(first?.documentation ?? "")) |"
    }

    private func page(_ declarations: [LuaDeclaration]) -> String {
        var lines = [Self.notice, ""]
        if let first = declarations.first, declarations.count > 1 { lines += ["# \(first.name)", ""] }
        for declaration in declarations {
            let kind = declaration.kind == .class ? "class" : "module"
            lines +=
                declarations.count > 1 ? ["## The \(kind) `\(declaration.name)`", ""] : ["# \(declaration.name)", ""]
            lines += [declaration.documentation, ""]
            lines += members(of: declaration, level: declarations.count > 1 ? "###" : "##")
        }
        return lines.joined(separator: "\n")
    }

    private func members(of declaration: LuaDeclaration, level: String) -> [String] {
        var lines: [String] = []
        if !declaration.properties.isEmpty {
            lines += ["\(level) Properties", "", "| | | |", "| --- | --- | --- |"]
            lines += declaration.properties.map { property in
                let type = property.type.name + (property.isReadOnly ? ", read-only" : "")
                return "| `\(property.name)` | \(Self.escape(type)) | \(Self.escape(property.documentation)) |"
            }
            lines.append("")
            for property in declaration.properties {
                guard let record = property.type.record else { continue }
                lines += ["`\(property.name)` has:", ""] + Self.fields(record.fields) + [""]
            }
        }
        if !declaration.operators.isEmpty {
            lines += ["\(level) Operators", "", "| | | |", "| --- | --- | --- |"]
            lines += declaration.operators.map {
                "| `\($0.expression(on: declaration.name))` | \($0.result.name) | \(Self.escape($0.documentation)) |"
            }
            lines.append("")
        }
        for function in declaration.functions + declaration.statics {
            lines += self.function(function, of: declaration, level: level)
        }
        let events = reference.events(of: declaration)
        if !events.isEmpty {
            let names = events.map { "[`\($0.name)`](events.md#\($0.name.lowercased()))" }
            lines += ["\(level) Events", "", names.joined(separator: ", "), ""]
        }
        return lines
    }

    private func function(
        _ function: LuaFunctionDeclaration, of declaration: LuaDeclaration, level: String
    ) -> [String] {
        var lines = ["\(level) `\(declaration.signature(of: function))`", "", function.documentation, ""]
        for parameter in function.parameters {
            lines.append("- `\(parameter.name)`: \(parameter.type.name)" + Self.remark(parameter))
            lines += Self.fields(parameter.type.options ?? parameter.type.record?.fields ?? [], indent: "  ")
        }
        if !function.parameters.isEmpty { lines.append("") }
        for result in function.results {
            guard let record = result.record else { continue }
            var isArray = false
            if case .array = result { isArray = true }
            lines +=
                [isArray ? "Each of what it gives has:" : "What it gives has:", ""] + Self.fields(record.fields) + [""]
        }
        if !function.example.isEmpty { lines += ["```lua", function.example, "```", ""] }
        return lines
    }

    private var eventsPage: String {
        var lines = [
            Self.notice, "", "# Events", "",
            "A handler is given one [`Event`](event.md), with what is listed here beside what all events have.", "",
        ]
        for owner in EventDeclaration.Owner.allCases {
            lines += ["## `\(owner.rawValue):on`", ""]
            for event in reference.events where event.owner == owner {
                lines += ["### \(event.name)", "", event.documentation, ""]
                lines += event.payload.map { "- `event.\($0.name)`: \($0.type.name)" + Self.remark($0) }
                if event.allowsVeto { lines.append("- `event:veto(reason)` refuses it.") }
                if !event.payload.isEmpty || event.allowsVeto { lines.append("") }
            }
        }
        return lines.joined(separator: "\n")
    }

    // MARK: Words

    private static func remark(_ parameter: LuaParameter) -> String {
        parameter.documentation.isEmpty ? "" : ", " + parameter.documentation
    }

    private static func fields(_ fields: [LuaParameter], indent: String = "") -> [String] {
        fields.flatMap { field in
            ["\(indent)- `\(field.name)`: \(field.type.name)" + remark(field)]
                + Self.fields(field.type.record?.fields ?? [], indent: indent + "  ")
        }
    }

    private static func escape(_ text: String) -> String { text.replacing("|", with: "\\|") }
}

/// The reference for programs. `version` increases when a field changes its meaning or is removed; fields may be added.
private struct ReferenceDocument {
    let reference: APIReference

    func json() throws(EncodingError) -> String {
        let document = JSONValue.of([
            "version": 1, "declarations": reference.declarations.map(json), "events": reference.events.map(json),
        ])
        do throws(JSONError) {
            return String(decoding: try document.json(isPretty: true), as: UTF8.self) + "\n"
        } catch {
            throw .invalidValue(reference, .init(codingPath: [], debugDescription: error.message))
        }
    }

    /// A type in words and in LuaCATS notation, and the fields of a record.
    private func json(_ type: LuaType) -> JSONValue {
        .of([
            "words": type.name, "annotation": type.annotation(), "fields": type.record.map { $0.fields.map(json) },
        ])
    }

    private func json(_ parameter: LuaParameter) -> JSONValue {
        .of([
            "name": parameter.name, "type": json(parameter.type), "isOptional": parameter.type.isOptional,
            "documentation": parameter.documentation, "options": parameter.type.options?.map(json),
        ])
    }

    /// A function. The name is empty for the call of a module or a global itself.
    private func json(_ function: LuaFunctionDeclaration, of declaration: LuaDeclaration) -> JSONValue {
        .of([
            "name": function.name, "signature": declaration.signature(of: function),
            "parameters": function.parameters.map(json), "results": function.results.map(json),
            "documentation": function.documentation, "example": function.example,
        ])
    }

    private func json(_ property: LuaPropertyDeclaration) -> JSONValue {
        .of([
            "name": property.name, "type": json(property.type), "isReadOnly": property.isReadOnly,
            "documentation": property.documentation,
        ])
    }

    private func json(_ operation: LuaOperatorDeclaration) -> JSONValue {
        .of([
            "name": operation.name, "operand": operation.operand.map(json), "result": json(operation.result),
            "documentation": operation.documentation,
        ])
    }

    /// A declaration. `statics` are a class's own functions, absent without any.
    private func json(_ declaration: LuaDeclaration) -> JSONValue {
        let statics = declaration.statics.map { json($0, of: declaration) }
        return .of([
            "kind": declaration.kind.rawValue, "name": declaration.name, "isGlobal": declaration.isGlobal,
            "isPartOfLua": declaration.isPartOfLua, "documentation": declaration.documentation,
            "properties": declaration.properties.map(json), "operators": declaration.operators.map(json),
            "functions": declaration.functions.map { json($0, of: declaration) },
            "statics": statics.isEmpty ? nil : statics,
        ])
    }

    private func json(_ event: EventDeclaration) -> JSONValue {
        .of([
            "owner": event.owner.rawValue, "name": event.name, "documentation": event.documentation,
            "payload": event.payload.map(json), "allowsVeto": event.allowsVeto,
        ])
    }
}
