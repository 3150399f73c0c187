import Application
import Files
import Lua
import PropertyList

/// The part of `fs` that examines files, and walks folders.
enum FolderBinding {
    private static let status = LuaType.record(
        "FileStatus",
        [
            LuaParameter("kind", .choice(["file", "directory", "link", "socket", "other"]), "the kind of file"),
            LuaParameter("size", .integer, "the size in bytes"),
            LuaParameter("modified", .object("date"), "the time of the last change of its contents"),
            LuaParameter("permissions", .integer, "the permission bits: tonumber(\"644\", 8)"),
            LuaParameter(
                "created", .optional(.object("date")),
                "the time of its creation, from fs.stat, if the file system records it"),
        ])

    private struct Examining: LuaOptions {
        var followLinks = true

        static var luaOptions: [LuaOption<Examining>] {
            LuaOption("followLinks", \.followLinks, doc: "examine the target of a link (default: true)")
        }
    }

    private struct Walking: LuaOptions {
        var depth: Int?
        var followLinks = false
        var hidden = true

        static var luaOptions: [LuaOption<Walking>] {
            LuaOption("depth", \.depth, doc: "the number of levels; 1: the folder's own entries")
            LuaOption("followLinks", \.followLinks, doc: "follow links (default: false)")
            LuaOption("hidden", \.hidden, doc: "include names that begin with a dot (default: true)")
        }
    }

    static func install(_ module: LuaModule, in host: ScriptHost) {
        module.function(
            "stat", ["path": "relative paths begin at the working folder", "options": "options for links"],
            returns: LuaType.orError(status),
            "The status of a file; nil and an error if it can't be examined.",
            example:
                "local s = fs.stat(app.container.path) return s.kind, s.modified, string.format(\"%o\", s.permissions)"
        ) { [unowned host] (path: String, options: Examining) in
            try host.attempt(path, .read) { layer in
                let (status, created) = try layer.status(path, followsLinks: options.followLinks)
                return table(of: status, created, host.values)
            }
        }
        module.function(
            "isDirectory", FileSystemModule.path,
            "Whether the path is a folder, or a link to one, that the sandbox grants.",
            example: "return fs.isDirectory(app.container.documents)"
        ) { [unowned host] (path: String) in
            let status = try? host.fence.layer.status(path, followsLinks: true).status
            return status?.kind == .directory
        }
        module.function(
            "walk", ["path": "relative paths begin at the working folder", "options": "options for the walk"],
            returns: [.callback("() → string, cubby.FileStatus, Error?")],
            "An iterator over all entries below a folder: path and status. It gives a folder's entries, then those of its subfolders, in no particular order, without holding a whole folder in memory. An entry that can't be entered or followed, such as a circular link, has an error as third value. If the folder itself can't be read, an error is raised.",
            example:
                "for path, info in fs.walk(app.container.path, { depth = 2 }) do print(path, info.kind, info.size) end"
        ) { [unowned host] (path: String, walking: Walking) in
            var options = FencedWalk.Options()
            (options.hidden, options.followsLinks) = (walking.hidden, walking.followLinks)
            if let depth = walking.depth {
                guard depth >= 1 else {
                    throw LuaMismatch("option 'depth': a number from 1 expected, got \(depth)", argument: "options")
                }
                options.depth = depth
            }
            return iterator(over: try begin(path, options, host), host)
        }
    }

    /// The iterator of a walk, which is closed when Lua collects it.
    private static func iterator(over walk: FencedWalk, _ host: ScriptHost) -> LuaIterator {
        let values = host.values
        return LuaIterator { [unowned values] call in
            do throws(FileError) {
                guard let entry = try walk.next() else { return call.returns(LuaValue.nil) }
                let results =
                    call.returns(entry.path) + call.returns(LuaValue.table(table(of: entry.status, nil, values)))
                guard let problem = entry.problem else { return results }
                return results + call.returns(call.state.errorValue(problem))
            } catch {
                throw LuaError(.runtime, error.message)
            }
        }
    }

    private static func begin(
        _ path: String, _ options: FencedWalk.Options, _ host: ScriptHost
    ) throws(LuaError) -> FencedWalk {
        do throws(FileError) {
            try host.askConsent(path, .read)
            do throws(FileError) { return try FencedWalk(path, options, fence: host.fence) } catch {
                guard error.code == FileLayerCode.tooManyFiles else { throw error }
                // Closes walks that loops have abandoned, with their iterators.
                host.state.collectGarbage()
                return try FencedWalk(path, options, fence: host.fence)
            }
        } catch {
            throw LuaError(.runtime, error.message)
        }
    }

    private static func table(of status: FileStatus, _ created: Int64?, _ values: ValueBridge) -> LuaTable {
        func date(_ nanoseconds: Int64) -> LuaValue {
            let fraction = (nanoseconds % 1_000_000_000 + 1_000_000_000) % 1_000_000_000
            let digits = String(String(fraction + 1_000_000_000).dropFirst())
            return values.dates.value(DateValue((nanoseconds - fraction) / 1_000_000_000, fraction: digits))
        }
        let table = values.state.makeTable(fields: 5)
        let kind =
            switch status.kind {
            case .regular: "file"
            case .directory: "directory"
            case .symbolicLink: "link"
            case .socket: "socket"
            case .other: "other"
            }
        table["kind"] = .text(kind)
        table["size"] = .integer(Int64(status.size))
        table["modified"] = date(status.modified)
        table["permissions"] = .integer(Int64(status.permissions))
        if let created { table["created"] = date(created) }
        return table
    }
}
