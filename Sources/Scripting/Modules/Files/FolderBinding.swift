import Application
import Files
import Lua
import PropertyList

/// The part of `fs` that examines files, and walks folders.
enum FolderBinding {
    private static let status = LuaType.record(
        "FileStatus",
        [
            LuaParameter("kind", .choice(["file", "directory", "link", "socket", "other"]), "what it is"),
            LuaParameter("size", .integer, "in bytes"),
            LuaParameter("modified", .object("date"), "when its contents were last changed"),
            LuaParameter("permissions", .integer, "the permission bits: tonumber(\"644\", 8)"),
            LuaParameter(
                "created", .optional(.object("date")),
                "from fs.stat, where the file system keeps that: when it was made"),
        ])

    static func install(_ module: LuaModule, _ path: LuaParameter, in host: ScriptHost) {
        module.function(
            "stat",
            [
                path,
                LuaParameter(
                    "options",
                    .optional(
                        .options([LuaParameter("followLinks", .boolean, "a link is its target; true if not given")])),
                    "what is examined"),
            ], returns: LuaType.orError(status),
            "What there is at a path; nil and an error when it can't be examined.",
            example:
                "local s = fs.stat(app.container.path) return s.kind, s.modified, string.format(\"%o\", s.permissions)"
        ) { [unowned host] call in
            let path = try call.text(0)
            let follows = try call.option("followLinks", of: 1)
            return try FileSystemModule.attempt(call, host, path, .read) { layer in
                let (status, created) = try layer.status(path, followsLinks: follows.isNil || follows.isTruthy)
                return call.returns(LuaValue.table(table(of: status, created, host.values)))
            }
        }
        module.function(
            "isDirectory", [path], returns: [.boolean],
            "Whether there is a folder that the sandbox grants, or a link to one.",
            example: "return fs.isDirectory(app.container.documents)"
        ) { [unowned host] call in
            let status = try? host.fence.layer.status(try call.text(0), followsLinks: true).status
            return call.returns(status?.kind == .directory)
        }
        module.function(
            "walk",
            [
                path,
                LuaParameter(
                    "options",
                    .optional(
                        .options([
                            LuaParameter("depth", .integer, "how many levels; 1 for the folder's own entries"),
                            LuaParameter("followLinks", .boolean, "links are their targets; false if not given"),
                            LuaParameter("hidden", .boolean, "names that begin with a dot, too; true if not given"),
                        ])), "what is walked"),
            ], returns: [.callback("() → string, cubby.FileStatus, Error?")],
            "An iterator over all that is beneath a folder: path and status. It gives a folder's entries, then those of its folders, in no order, and holds no folder as a whole. What can't be entered or followed, a link in a circle for one, comes with an error as third value; a folder that can't be read at all raises.",
            example:
                "for path, info in fs.walk(app.container.path, { depth = 2 }) do print(path, info.kind, info.size) end"
        ) { [unowned host] call in try walk(call, host) }
    }

    private static func walk(_ call: LuaCall, _ host: ScriptHost) throws -> LuaResults {
        let path = try call.text(0)
        var options = FencedWalk.Options()
        let hidden = try call.option("hidden", of: 1)
        options.hidden = hidden.isNil || hidden.isTruthy
        options.followsLinks = try call.option("followLinks", of: 1).isTruthy
        if let depth = try call.option("depth", of: 1).integerValue {
            guard depth >= 1 else { throw call.refuse(1, "option 'depth': a number from 1 expected, got \(depth)") }
            options.depth = Int(depth)
        }
        let walk = try begin(path, options, host)
        let values = host.values
        return call.returns(ownedFunction: { [unowned values] call in
            do throws(FileError) {
                guard let entry = try walk.next() else { return call.returns(LuaValue.nil) }
                let results =
                    call.returns(entry.path) + call.returns(LuaValue.table(table(of: entry.status, nil, values)))
                guard let problem = entry.problem else { return results }
                return results + call.returns(call.state.errorValue(problem))
            } catch {
                throw LuaError(.runtime, error.message)
            }
        })
    }

    private static func begin(
        _ path: String, _ options: FencedWalk.Options, _ host: ScriptHost
    ) throws(LuaError) -> FencedWalk {
        do throws(FileError) {
            try host.askConsent(path, .read)
            do throws(FileError) { return try FencedWalk(path, options, fence: host.fence) } catch {
                guard error.code == FileLayerCode.tooManyFiles else { throw error }
                // Walks that loops have left are closed with their iterators.
                host.state.collectGarbage()
                return try FencedWalk(path, options, fence: host.fence)
            }
        } catch {
            throw LuaError(.runtime, error.message)
        }
    }

    private static func table(of status: FileStatus, _ created: Int64?, _ values: ValueBridge) -> LuaTable {
        func date(_ nanoseconds: Int64) -> LuaValue {
            let seconds = nanoseconds / 1_000_000_000
            return values.dates.value(DateValue(seconds, fraction: Double(nanoseconds % 1_000_000_000) / 1e9))
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
