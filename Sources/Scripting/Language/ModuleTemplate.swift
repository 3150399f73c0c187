import Application
import Files

/// A place where `require` looks for modules: a folder, or a template of `package.path`.
struct ModuleTemplate {
    /// The text before and after each place of the module's name.
    private let parts: [String]
    /// Whether it is one of LUA_PATH.
    private let isOfEnvironment: Bool

    private init(parts: [String], isOfEnvironment: Bool = false) {
        (self.parts, self.isOfEnvironment) = (parts, isOfEnvironment)
    }

    /// The templates of folders, in whose names a question mark has no meaning.
    static func of(folders: [String]) -> [ModuleTemplate] {
        folders.flatMap { folder in
            ["/?.lua", "/?/init.lua"].map { suffix in
                let rest = suffix.dropFirst(2)
                return ModuleTemplate(parts: [folder.hasSuffix("/") ? folder : folder + "/", String(rest)])
            }
        }
    }

    /// The templates of a text in the form of `package.path`. Empty ones, which stand for the default path, are left out.
    ///
    /// - Parameters:
    ///   - text: templates, separated by semicolons.
    ///   - environment: the value of LUA_PATH, for messages.
    /// - Returns: the templates in order.
    static func parse(_ text: String, reading environment: String?) -> [ModuleTemplate] {
        let ofEnvironment = environment.map { $0.split(separator: ";") } ?? []
        return text.split(separator: ";").map { template in
            ModuleTemplate(
                parts: template.split(separator: "?", omittingEmptySubsequences: false).map(String.init),
                isOfEnvironment: ofEnvironment.contains { $0 == template })
        }
    }

    /// The text of templates for `package.path`.
    static func text(_ templates: [ModuleTemplate]) -> String { templates.map(\.text).joined(separator: ";") }

    /// The template's text.
    var text: String { parts.joined(separator: "?") }

    /// The path of a module's file.
    func path(of file: String) -> String { parts.joined(separator: file) }

    /// Where the template comes from, for a message.
    var origin: String { isOfEnvironment ? " of LUA_PATH" : "" }

    /// The folder that a grant would open: the one before the module's name.
    func folder(_ base: String) -> String {
        let absolute = PathText.absolute((parts.first ?? "") + "x", from: base)
        return PathText.parent(of: absolute)
    }

    /// The option that grants it, for a message.
    func remedy(_ base: String) -> String { "--module-path \(DisplayPath.abbreviate(folder(base))) grants it" }
}

/// What LUA_PATH gives to `require`, for `cubby doctor`.
package struct LuaPathReport {
    /// The templates in order, each with whether its folder is granted.
    package let templates: [(text: String, folder: String, isGranted: Bool)]

    /// - Parameters:
    ///   - luaPath: the variable's value.
    ///   - granted: folders that are granted, beside those that every script has.
    ///   - base: the working folder.
    package init(_ luaPath: String, granted: [String], base: String) {
        let roots = (granted + LuaTrees.granted).map { RealPath.ofExistingPart(of: PathText.absolute($0, from: base)) }
        templates = ModuleTemplate.parse(luaPath, reading: luaPath).map { template in
            let folder = template.folder(base)
            let real = RealPath.ofExistingPart(of: folder)
            let isGranted = roots.contains { real == $0 || real.hasPrefix($0 == "/" ? "/" : $0 + "/") }
            return (template.text, folder, isGranted)
        }
    }

    /// As one line: each template, and whether it is used.
    package var text: String {
        templates.map { $0.isGranted ? $0.text : "\($0.text) (not granted: ignored)" }.joined(separator: "; ")
    }

    /// The folders that no grant covers.
    package var missing: [String] { templates.filter { !$0.isGranted }.map(\.folder).unique() }
}
