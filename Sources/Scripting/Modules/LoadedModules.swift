import Lua

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

    func note(_ name: String, _ path: String) { paths[name] = path }

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
