import Application
import Files
import Glibc
package import Lua

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

    /// The reference of a plain host, opened in a temporary folder.
    ///
    /// - Throws: `FileError` when the folder can't be created, and the errors of opening a host.
    package static func standard() throws -> APIReference {
        let base = Environment.value("TMPDIR") ?? "/tmp"
        let path = PathText.join(base, "cubby-\(UUIDModule.make())")
        let layer = PosixFileLayer()
        try layer.makeDirectories(path)
        defer { FolderRemover.remove(path, using: layer) }
        var options = ScriptHostOptions(container: Container(path: path))
        options.handlesSignals = false
        options.runsInitScript = false
        return APIReference(try ScriptHost(options))
    }

    /// The whole reference as one text.
    ///
    /// - Throws: an error of the encoder, for JSON only.
    public func text(_ format: ReferenceFormat) throws -> String {
        switch format {
        case .luacats: AnnotationWriter(self).text
        case .markdown: pages.map(\.text).joined(separator: "\n")
        case .json: try ReferenceDocument(self).json()
        }
    }

    /// The reference as files: the pages of Markdown, or one file.
    ///
    /// - Throws: an error of the encoder, for JSON only.
    public func files(_ format: ReferenceFormat) throws -> [ReferencePage] {
        switch format {
        case .luacats: [ReferencePage(path: "cubby.lua", text: try text(format))]
        case .markdown: pages
        case .json: [ReferencePage(path: "cubby.json", text: try text(format))]
        }
    }

    /// The pages in Markdown, the index first.
    public var pages: [ReferencePage] { MarkdownWriter(self).pages }

    /// The settings of editors and linters for a folder of scripts, including annotations.
    public var editorFiles: [ReferencePage] { EditorSettings(self).files }

    /// The path of the file that belongs to the user once it exists: it is never replaced.
    package static let ownEditorFile = EditorSettings.launch

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
