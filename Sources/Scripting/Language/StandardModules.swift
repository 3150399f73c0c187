import Application
import Files
import Lua

/// What every host has: the values of property lists, Lua's own library within the sandbox, and help. The modules are
/// globals, and the result of `require "cubby"`.
enum StandardLibrary {
    /// The globals of the values that all modules share.
    static func values(of host: ScriptHost) -> [ScriptModule.Global] {
        let values = host.values
        return [
            DateModule.install(values).global, DataModule.install(values).global,
            UUIDModule.install(in: host.state).global, ("null", values.nulls.value(NullValue.shared)),
        ]
    }

    static func install(in host: ScriptHost, modules: [ScriptModule.Global]) {
        BreakpointFunction.install(in: host)
        BaseModule.install(in: host, modules: modules)
        host.output.flushFiles = { [unowned state = host.state] in state.flushFiles() }
        HelpModule.install(in: host)
        for (name, value) in modules { host.state.globals[name] = value }
        StrictGlobals.install(in: host)
    }
}

/// `require` and `package`: Lua modules, each run once, from the script's folder, `--module-path`, LUA_PATH where it is
/// granted, the container's scripts, and the LuaRocks trees of the user and the system, which only `require` may read. C
/// modules come from the same trees, if the host allows them.
///
/// Scripts may change `package.path`: it is searched as in Lua, within what the sandbox grants.
enum RequireModule {
    static func install(in host: ScriptHost, modules: [ScriptModule.Global]) {
        let state = host.state
        let loaded = state.makeTable(fields: 16)
        let preload = state.makeTable()
        let all = state.makeTable(fields: modules.count)
        for (name, value) in modules { all[name] = value }
        loaded["cubby"] = .table(all)
        host.runtime.modules.table = loaded
        for name in ["_G", "coroutine", "table", "string", "math", "utf8", "os", "io", "debug"] {
            loaded[name] = state.globals[name]
        }
        let native = host.options.usesLuaTrees && host.options.allowsNativeModules ? LuaTrees.nativeFolders : []
        let package = state.makeTable([
            "loaded": loaded, "preload": preload, "path": ModuleTemplate.text(host.moduleTemplates),
            "cpath": native.map { "\($0)/?.so" }.joined(separator: ";"), "config": "/\n;\n?\n!\n-\n",
        ])
        loaded["package"] = .table(package)
        state.globals["package"] = .table(package)

        let declaration = LuaFunctionDeclaration(
            "require", [LuaParameter("module", .text, "the name; dots separate folders")], returns: [.any, .any],
            doc: """
                Loads a Lua module once, from the script's folder, --module-path, Library/Scripts, or a LuaRocks tree: the \
                templates of package.path, within the sandbox's grants. Returns its value and its origin; "cubby" contains \
                all of the host's modules.
                """, example: "local cubby = require \"cubby\" return cubby.items == items")
        // Modules being loaded: a cycle would never end.
        var loading: NameSet = []
        state.setGlobal(declaration, isPartOfLua: true) { [unowned host] call in
            let name = try call.text(0)
            let known = loaded[name]
            if known.isTruthy { return call.returns(known) }
            guard !PathText.isTooLong(name), !name.contains("\0"), isName(name) else {
                throw call.refuse(0, "'\(name.shortened(to: 200))' is not a module's name")
            }
            guard loading.insert(name).inserted else {
                throw LuaError(.runtime, "module '\(name)' requires itself, by way of what it requires")
            }
            defer { loading.remove(name) }

            let (loader, place) =
                if case .function(let loader) = preload[name] { (loader, ":preload:") } else {
                    try find(name, along: package["path"], in: host)
                }
            let result = try loader.call(.text(name), .text(place)).first ?? .nil
            if !result.isNil {
                loaded[name] = result
            } else if loaded[name].isNil {
                loaded[name] = true
            }
            return try call.returns(values: [loaded[name], .text(place)])
        }
    }

    /// Whether a name leads beneath a folder: `a.b`, `a/b`, `./a`, but not `/a` and `../a`.
    private static func isName(_ name: String) -> Bool {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return parts.drop { $0 == "." }.allSatisfy { part in part.contains { $0 != "." } } && parts != ["."]
    }

    /// The path of a module's file beneath a folder, without its extension. Dots separate folders, and so do slashes.
    private static func file(of name: String) -> String {
        name.split { $0 == "." || $0 == "/" }.joined(separator: "/")
    }

    /// The module's chunk, and its file for display. `path` is `package.path`, which scripts may have changed.
    private static func find(
        _ name: String, along path: LuaValue, in host: ScriptHost
    ) throws -> (LuaFunction, String) {
        let file = file(of: name)
        var tried = "\n\tno field package.preload['\(name)']"
        let given = host.moduleTemplates
        var templates = given
        if let text = path.textValue, text != ModuleTemplate.text(given) {
            templates = ModuleTemplate.parse(text, reading: host.options.luaPath)
        }
        for template in templates {
            let path = template.path(of: file)
            let shown = DisplayPath.abbreviate(path)
            guard let layer = host.moduleLayer(for: path) else {
                // A tree that is not there has no grant.
                let isOfTree = LuaTrees.granted.contains { path.hasPrefix($0 + "/") }
                tried +=
                    isOfTree
                    ? "\n\tno file '\(shown)'"
                    : "\n\t'\(shown)'\(template.origin) is outside the sandbox; \(template.remedy(host.fence.base))"
                continue
            }
            do {
                let source = try layer.contents(of: path, limit: 64 << 20)
                host.sources.remember(String(decoding: source, as: UTF8.self), as: shown)
                host.runtime.modules.record(name, path)
                return (try host.state.load(ScriptHost.withoutShebang(source), name: "@" + shown), shown)
            } catch let error as FileError {
                let isThere = PosixFileLayer().exists(path)
                tried += isThere ? "\n\t\(error.message)" : "\n\tno file '\(shown)'"
            }
        }
        if host.options.usesLuaTrees, let native = LuaTrees.native(file) { return try open(native, name, in: host) }
        throw LuaError(.runtime, "module '\(name)' not found:\(tried)\(hint(for: name))")
    }

    /// The host's own module with the functions of a known C module.
    private static func hint(for name: String) -> String {
        let own = [
            "lfs": "fs", "cjson": "json", "rapidjson": "json", "lsqlite3": "sqlite", "luasql.sqlite3": "sqlite",
        ]
        return own[name].map { "\n\t(the host's own module '\($0)' has the like: help(\"\($0)\"))" } ?? ""
    }

    /// A C module, where allowed.
    private static func open(_ path: String, _ name: String, in host: ScriptHost) throws -> (LuaFunction, String) {
        let shown = DisplayPath.abbreviate(path)
        guard host.options.allowsNativeModules else {
            let reason = "C modules are not loaded without --allow-ffi: they run outside of the sandbox"
            throw LuaError(.runtime, "module '\(name)' is a C module (\(shown)). \(reason)\(hint(for: name))")
        }
        // Lua's rule: dots become underscores, and a prefix with a hyphen is a version.
        let base = name.split(separator: "-", maxSplits: 1).last.map(String.init) ?? name
        let symbol = "luaopen_" + base.split(separator: ".").joined(separator: "_")
        do {
            return (try host.state.loadNative(path, symbol: symbol), shown)
        } catch {
            throw LuaError(.runtime, "module '\(name)' is in \(shown), which cannot be loaded: \(error.message)")
        }
    }

}

extension ScriptHost {
    /// The search path of `require`.
    var moduleTemplates: [ModuleTemplate] {
        ModuleTemplate.of(folders: options.modulePaths)
            + ModuleTemplate.parse(options.luaPath ?? "", reading: options.luaPath)
            + ModuleTemplate.of(folders: [container.scripts])
            + ModuleTemplate.of(folders: options.usesLuaTrees ? LuaTrees.folders : [])
    }

    /// The fenced files through which `require` reads a path; nil for one that is not granted.
    ///
    /// In its own folders it reads Lua alone: a script chooses the templates, and the error of a text that is not Lua
    /// shows a part of it.
    func moduleLayer(for path: String) -> FencedFileLayer? {
        let fences = path.hasSuffix(".lua") ? [sandbox.moduleFence, fence] : [fence]
        return fences.first { $0.verdict(path, .read) == .granted }?.layer
    }
}

/// The modules that `require` read from files, which a reload of `init.lua` reads again.
final class LoadedModules {
    /// `package.loaded`.
    var table: LuaTable?
    private var paths: NameTable<String> = [:]

    /// A module's previous value, restored when its new version fails.
    struct Entry {
        let name: String
        let path: String
        let value: LuaValue
    }

    var files: [String] { paths.values.sorted() }

    func record(_ name: String, _ path: String) { paths[name] = path }

    /// Forgets the modules beneath a folder, so that they are read again; returns their values.
    func forget(in folder: String) -> [Entry] {
        var entries: [Entry] = []
        for (name, path) in paths where path.hasPrefix(folder + "/") {
            entries.append(Entry(name: name, path: path, value: table?[name] ?? .nil))
            table?[name] = .nil
            paths[name] = nil
        }
        return entries
    }

    func restore(_ entries: [Entry]) {
        for entry in entries {
            paths[entry.name] = entry.path
            table?[entry.name] = entry.value
        }
    }
}

/// The module trees of LuaRocks and the system for Lua 5.4.
enum LuaTrees {
    /// The trees of the user, the administrator and the distribution.
    private static var roots: [String] {
        [HomeFolder.path.map { PathText.join($0, ".luarocks") }, "/usr/local", "/usr"].compactMap { $0 }
    }

    /// The folders of Lua modules.
    static var folders: [String] { roots.map { PathText.join($0, "share/lua/5.4") } }

    /// The folders that a fence must grant for them: the trees of all versions, since Debian's 5.4 links to its 5.1.
    static var granted: [String] { folders.map(PathText.parent(of:)) }

    /// The folders of C modules.
    static var nativeFolders: [String] {
        var folders = roots.map { PathText.join($0, "lib/lua/5.4") }
        #if arch(x86_64)
        folders.append("/usr/lib/x86_64-linux-gnu/lua/5.4")
        #elseif arch(arm64)
        folders.append("/usr/lib/aarch64-linux-gnu/lua/5.4")
        #endif
        return folders
    }

    /// The path of a native module; nil when there is none.
    static func native(_ file: String) -> String? {
        nativeFolders.map { PathText.join($0, file + ".so") }.first { PosixFileLayer().exists($0) }
    }
}

/// What people's test helpers and libraries take of `debug`, as far as it opens nothing: the metatables of a script's own
/// tables, which `getmetatable` and `setmetatable` give as well.
enum DebugModule {
    static func install(in host: ScriptHost) {
        let state = host.state
        guard case .table(let debug) = state.globals["debug"],
            case .function(let getter) = state.globals["getmetatable"],
            case .function(let setter) = state.globals["setmetatable"]
        else { return }
        let value = LuaParameter("value", .any, "any value")
        debug["getmetatable"] = .function(
            state.makeFunction(
                LuaFunctionDeclaration("getmetatable", [value]), owner: "debug.", base: 1, ignoresSurplus: true
            ) { call in
                // A protected one is false, or what its owner shows.
                guard case .table = call.value(0), case .table(let metatable)? = try getter.call(call.value(0)).first
                else { return call.returns(LuaValue.nil) }
                return call.returns(LuaValue.table(metatable))
            })
        debug["setmetatable"] = .function(
            state.makeFunction(
                LuaFunctionDeclaration("setmetatable", [value, LuaParameter("metatable", .optional(.table))]),
                owner: "debug.", base: 1, ignoresSurplus: true
            ) { call in
                guard case .table = call.value(0) else {
                    throw LuaError(
                        .argument, "debug.setmetatable takes a script's own table here, got \(call.value(0).typeName)")
                }
                return try call.returns(values: setter.call(call.value(0), call.value(1)))
            })
    }
}

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
