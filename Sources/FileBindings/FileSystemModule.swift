import Application
import Files
import Lua
import PropertyList
package import Scripting

/// `fs`: files within the sandbox's grants.
package enum FileSystemModule: ScriptModule {
    package static let name = "fs"

    static let path: LuaArguments = ["path": "relative paths begin at the working folder"]

    package static func declare(in host: ScriptHost) -> [Global] {
        let module = LuaModule(
            "fs", doc: "Files within the sandbox's grants: the container, and files that were named or allowed.",
            in: host.state)
        installContents(module, in: host)
        installFolders(module, in: host)
        installTransfers(module, in: host)
        FolderBinding.install(module, in: host)
        WatchBinding.install(module, in: host)
        return [module.global]
    }

    private static func installContents(_ module: LuaModule, in host: ScriptHost) {
        module.function(
            "read", path, doc: "A file's bytes; nil and an error if it can't be read.",
            example:
                "fs.write(app.container.tmp .. \"/a.txt\", \"text\") return fs.read(app.container.tmp .. \"/a.txt\")"
        ) { [unowned host] (path: String) in
            try host.attempt(path, .read) { LuaString(try $0.contents(of: path, limit: ScriptHost.readLimit)) }
        }
        module.function(
            "write", ["path": "relative paths begin at the working folder", "bytes": "the new contents"],
            doc: "Writes a file atomically: an interrupted write leaves the old contents.",
            example: "return fs.write(app.container.tmp .. \"/a.txt\", \"text\")"
        ) { [unowned host] (path: String, bytes: BytesArgument) in try host.write(bytes.bytes, to: path) }
        module.function(
            "hash", path, doc: "The SHA-256 of a file's bytes, in hexadecimal digits.",
            example:
                "fs.write(app.container.tmp .. \"/a.txt\", \"text\") return fs.hash(app.container.tmp .. \"/a.txt\")"
        ) { [unowned host] (path: String) in
            try host.attempt(path, .read) { try $0.digest(of: path).hexadecimal }
        }
    }

    private static func installFolders(_ module: LuaModule, in host: ScriptHost) {
        module.function(
            "list", path, doc: "The names in a folder, sorted.",
            example: "for _, name in ipairs(fs.list(app.container.path)) do print(name) end"
        ) { [unowned host] (path: String) in
            try host.attempt(path, .read) { layer in
                try layer.list(path).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            }
        }
        module.function(
            "exists", path, doc: "Whether the path is a file or folder that the sandbox grants.",
            example: "return fs.exists(app.container.documents)"
        ) { [unowned host] (path: String) in ((try? host.fence.layer.status(path)) ?? nil) != nil }
        module.function(
            "makeDirectory", path, doc: "Makes a folder and its missing parent folders.",
            example: "return fs.makeDirectory(app.container.tmp .. \"/a/b\")"
        ) { [unowned host] (path: String) in
            try host.attempt(path, .readWrite) { layer in
                try layer.makeDirectories(path)
                return true
            }
        }
    }

    private static func installTransfers(_ module: LuaModule, in host: ScriptHost) {
        module.function(
            "remove", ["path": "relative paths begin at the working folder", "options": "options for removal"],
            doc: "Removes a file or an empty folder; nil and an error if that fails.",
            example:
                "fs.makeDirectory(app.container.tmp .. \"/a/b\") return fs.remove(app.container.tmp .. \"/a\", { recursive = true })"
        ) { [unowned host] (path: String, options: Depth) in
            guard options.recursive else { return try host.remove(path) }
            return try host.attempt(path, .readWrite) { layer in
                try layer.removeAll(path)
                return true
            }
        }
        module.function(
            "copy",
            [
                "from": "the source path", "to": "the destination path, not a folder to copy into",
                "options": "options for copying",
            ],
            doc:
                "Copies a file with its permissions, atomically: an interrupted copy leaves the destination as it was. An existing file is replaced. A folder is copied to a new path; a link in it becomes a copy of its file.",
            example:
                "fs.write(app.container.tmp .. \"/a.txt\", \"text\") return fs.copy(app.container.tmp .. \"/a.txt\", app.container.tmp .. \"/b.txt\")"
        ) { [unowned host] (from: String, to: String, options: Depth) in
            try host.attempt(from, .read) { _ in }.flatMap {
                try host.attempt(to, .readWrite) { layer in
                    guard try layer.status(from)?.kind == .directory else {
                        try FileTransfer.copy(from, to: to, using: layer)
                        return true
                    }
                    guard options.recursive else {
                        throw FileError(
                            .copy, from, code: FileLayerCode.isDirectory,
                            reason: "it is a folder: { recursive = true } copies it with all beneath it")
                    }
                    try FolderCopier.copy(from, to: to, using: layer)
                    return true
                }
            }
        }
        let paths: LuaArguments = ["from": "the source path", "to": "the destination path, not a folder to move into"]
        module.function(
            "move", paths,
            doc: "Moves a file or a folder. An existing file is replaced. Links are moved, not followed.",
            example:
                "fs.write(app.container.tmp .. \"/a.txt\", \"text\") return fs.move(app.container.tmp .. \"/a.txt\", app.container.tmp .. \"/b.txt\")"
        ) { [unowned host] (from: String, to: String) in
            try host.attempt(from, .readWrite) { _ in }.flatMap {
                try host.attempt(to, .readWrite) { layer in
                    try FileTransfer.move(from, to: to, using: layer)
                    return true
                }
            }
        }
    }
}

extension FileSystemModule {
    private struct Depth: LuaOptions {
        var recursive = false

        static var luaOptions: [LuaOption<Depth>] {
            LuaOption("recursive", \.recursive, doc: "also a folder with all its contents; links are not followed")
        }
    }
}

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
            doc: "The status of a file; nil and an error if it can't be examined.",
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
            doc: "Whether the path is a folder, or a link to one, that the sandbox grants.",
            example: "return fs.isDirectory(app.container.documents)"
        ) { [unowned host] (path: String) in
            let status = try? host.fence.layer.status(path, followsLinks: true).status
            return status?.kind == .directory
        }
        module.function(
            "walk", ["path": "relative paths begin at the working folder", "options": "options for the walk"],
            returns: [.callback("() → string, cubby.FileStatus, Error?")],
            doc:
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
        func date(_ nanoseconds: Int64) -> DateValue {
            let fraction = (nanoseconds % 1_000_000_000 + 1_000_000_000) % 1_000_000_000
            let digits = String(String(fraction + 1_000_000_000).dropFirst())
            return DateValue((nanoseconds - fraction) / 1_000_000_000, fraction: digits)
        }
        let kind =
            switch status.kind {
            case .regular: "file"
            case .directory: "directory"
            case .symbolicLink: "link"
            case .socket: "socket"
            case .other: "other"
            }
        return values.state.makeTable([
            "kind": kind, "size": Int64(status.size), "modified": date(status.modified),
            "permissions": Int64(status.permissions), "created": created.map(date),
        ])
    }
}

/// `fs.watch`: a function that is called when files change.
enum WatchBinding {
    private struct Watching: LuaOptions {
        var watch = FileWatch.Options()

        static var luaOptions: [LuaOption<Watching>] {
            LuaOption("recursive", \.watch.recursive, doc: "watch the folders beneath it, too, and those that come")
            LuaOption(
                "delay", \.watch.delay,
                doc: "seconds for which a path must be quiet before it is reported (default: 0.1)")
            LuaOption(
                "closed", \.watch.closed,
                doc: "report a file when whoever writes it has closed it (default: true), not while it grows")
            LuaOption(
                "hidden", \.watch.hidden,
                doc: "report names that begin with a dot, and those of temporary files, as .tmp and .part, too")
            LuaOption("existing", \.watch.existing, doc: "report what is already there as created, first")
        }
    }

    static func install(_ module: LuaModule, in host: ScriptHost) {
        host.state.addClass(ScriptWatch.self)
        host.state.addClass(WatchEvent.self)
        let watches = ScriptWatches()
        host.atEnd { watches.cancel() }
        host.addStatus("watches") { watches.statuses }
        module.function(
            "watch",
            [
                "path": "a file or a folder",
                "options": .callback("(event: WatchEvent)", "what is reported; or the function, without options"),
                "handler": .callback(
                    "(event: WatchEvent)", "the function to call; omitted if it is the second argument"),
            ],
            doc: """
                Calls a function with each change of a file, or of the entries of a folder, while the host serves events. \
                A file is reported once it is written and closed, under its final name. After three failures in a row the \
                watch is paused.
                """,
            example: """
                local folder = app.container.tmp .. "/inbox" fs.makeDirectory(folder) \
                local seen local w = fs.watch(folder, { delay = 0.01 }, function(event) seen = event end) \
                fs.write(folder .. "/a.txt", "text") while not seen do timer.sleep(0.01) end w:cancel() \
                return seen.kind, seen.path == folder .. "/a.txt"
                """
        ) { [unowned host] (path: String, options: LuaEither<Watching, LuaFunction>, handler: LuaFunction?) in
            let (watching, function): (Watching, LuaFunction)
            switch (options, handler) {
            case (.first(let given), let handler?): (watching, function) = (given, handler)
            case (.second(let handler), nil): (watching, function) = (Watching(), handler)
            case (.first, nil): throw LuaMismatch("function expected, got no value", argument: "handler")
            case (.second, _?): throw LuaMismatch("options before the function expected", argument: "options")
            }
            let seconds = watching.watch.delay
            guard (0...3600).contains(seconds) else {
                throw LuaMismatch("option 'delay': 0 to 3600 expected, got \(seconds)", argument: "options")
            }
            return try host.attempt(path, .read) { _ in
                try host.watch(path, watching.watch, function, in: watches)
            }
        }
    }
}
