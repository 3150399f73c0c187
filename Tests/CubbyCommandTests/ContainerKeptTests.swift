import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// What a script tries in order to lock its container, to swap a save, or to write where it was not sent: the next launch
/// opens the container all the same, and `check --repair` mends what other programs have put in its way.
@Suite("Containers that scripts cannot lock")
struct ContainerKeptTests {
    let program: Program
    let manager = FileManager.default

    init() throws {
        program = try Program()
        _ = try program(
            "-e", "items:createItem{ name = 'kept' } items:saveChanges() items[1].name = 'new' defaults:set('k', 1)")
    }

    static let parts = [
        "Library/format", "Library/Preferences/cubby.plist", "Library/Preferences/items.plist",
        "Library/Application Support/repl_history", "Library/Application Support/restoration.plist",
        "Library/Application Support/restoration.plist.restoring", ".lock", ".socket", ".cubby-restore",
        "Documents/items.archive", "Documents/items.journal", "Library/Caches/items.index", "Documents", "Library",
        "Library/Application Support", "Library/Caches", "Library/Preferences", "Library/Scripts", "tmp",
        "Library/Caches/Thumbnails", "Library/Caches/Removed Images", "Library/Caches/Replaced Images",
    ]

    @Test("no function changes a part of the container, and the next launch finds everything")
    func locks() throws {
        var script = "local P, T = app.container.path, app.container.tmp\n"
        for part in Self.parts {
            script += """
                for _, f in ipairs{
                  function(p) return fs.write(p, "99") end, function(p) return fs.remove(p, { recursive = true }) end,
                  function(p) return fs.move(p, T .. "/moved") end, function(p) return os.rename(p, T .. "/moved") end,
                  function(p) fs.write(T .. "/x", "x") return fs.move(T .. "/x", p) end,
                  function(p) fs.write(T .. "/x", "x") return os.rename(T .. "/x", p) end,
                  function(p) fs.write(T .. "/x", "x") return fs.copy(T .. "/x", p) end,
                  function(p) fs.makeDirectory(T .. "/d") return fs.move(T .. "/d", p) end,
                  function(p) fs.makeDirectory(T .. "/d") return fs.copy(T .. "/d", p) end,
                  function(p) local f, e = io.open(p, "w") if f then f:close() end return f, e end,
                  function(p) local f, e = io.open(p, "a") if f then f:close() end return f, e end,
                  function(p) return os.remove(p) end, function(p) return csv.write(p, { { a = 1 } }) end,
                  function(p) return plist.write({ a = 1 }, p) end, function(p) return items:export(p) end,
                  function(p) local d, e = sqlite.open(p) if d then d:close() end return d, e end,
                  function(p) return app:backup(p) end,
                } do
                  local p = P .. "/\(part)"
                  local ok, value = pcall(f, p)
                  if ok and value then print("done", p) end
                end

                """
        }
        let folders = Self.parts.filter { ($0 as NSString).pathExtension.isEmpty }
        script += folders.map { "pcall(fs.makeDirectory, P .. '/\($0)')\n" }.joined()
        for fence in [[], ["--only-path-fence"]] {
            let result = try program(
                fence + ["--no-init", "run", "-"], input: script, environment: [:], directory: program.scratch.path)
            #expect(result.status == .exited(0), "\(result.stderr)")
            #expect(result.stdout == "", "\(fence)")
            let next = try program("-e", "print(#items, items[1].name, defaults:get('k'))")
            #expect(next.stdout == "1\tnew\t1\n" && next.status == .exited(0), "\(next.stderr)")
            #expect(try program("check", program.container).status == .exited(0))
        }
    }

    @Test("a save's files are out of a script's reach while it waits for the save")
    func swappedSave() throws {
        let result = try program(
            "--only-path-fence", "-e",
            """
            local D, tried, done = app.container.documents, 0, 0
            for i = 1, 20000 do items:createItem{ name = "item " .. i } end
            timer.every(0, function()
              for _, folder in ipairs{ D, app.container.caches } do
                for _, name in ipairs(fs.list(folder)) do
                  if name:find("^%.cubby") then
                    local path = folder .. "/" .. name
                    tried = tried + 1
                    if fs.write(path, "EVIL") or fs.remove(path) or io.open(path, "a") or fs.move(path, D .. "/x") then
                      done = done + 1
                    end
                  end
                end
              end
            end)
            for i = 1, 5 do items[1].name = "name " .. i assert(items:saveChanges()) end
            print(#items, done)
            """)
        #expect(result.stdout == "20001\t0\n" && result.status == .exited(0), "\(result.stderr)")
        #expect(try program("-e", "print(#items, items[1].name)").stdout == "20001\tname 5\n")
    }

    @Test(
        "check --repair moves aside what another program has put in the place of a part, with a word",
        arguments: [
            "Library/format", "Library/Preferences/cubby.plist", "Library/Application Support/repl_history", ".lock",
            "Library/Caches/items.index", "Library/Scripts", "tmp", "Library/Caches/Thumbnails",
        ])
    func repairs(part: String) throws {
        let path = "\(program.container)/\(part)"
        try? manager.removeItem(atPath: path)
        let isFolder = ContainerPartsTests.folders.contains(part)
        if isFolder {
            try Data("x".utf8).write(to: URL(fileURLWithPath: path))
        } else {
            try manager.createDirectory(atPath: path + "/below", withIntermediateDirectories: true)
        }
        let name = (part as NSString).lastPathComponent
        #expect(try program("-e", "print(#items)").status == .exited(65))
        let check = try program("check", program.container)
        #expect(check.status == .exited(65) && check.stderr.contains("--repair"), "\(check.stderr)")
        let repair = try program("check", program.container, "--repair")
        #expect(repair.status == .exited(0) && repair.stdout.contains(name + ".misplaced-1"), "\(repair)")
        #expect(manager.fileExists(atPath: path + ".misplaced-1"))
        #expect(try program("-e", "print(#items)").stdout == "1\n")
    }

    @Test("a format that is not a number is moved aside; one of a newer version is not")
    func formats() throws {
        for (text, status, isMoved) in [("what", Int32(0), true), ("", 0, true), ("99", 65, false)] {
            try program.scratch.write(text, to: "container/Library/format")
            #expect(try program("-e", "print(#items)").status == .exited(65))
            let repair = try program("check", program.container, "--repair")
            #expect(repair.status == .exited(status), "\(text): \(repair)")
            #expect(manager.fileExists(atPath: "\(program.container)/Library/format") != isMoved)
        }
    }

    @Test("preferences that are damaged are reported by check, and set aside by --repair")
    func preferences() throws {
        let path = "container/Library/Preferences/cubby.plist"
        var bytes = Array(try program.scratch.read(path))
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: [0x51, UInt8(ascii: "k")]) })
        bytes[place + 1] = UInt8(ascii: "j")
        try program.scratch.write(bytes, to: path)
        let launch = try program("-e", "print(defaults:get('k'), defaults:get('j'))")
        #expect(launch.stdout == "nil\t1\n" && launch.stderr.contains("differ from their checksum"), "\(launch)")
        #expect(try program("check", program.container).status == .exited(65))
        let repair = try program("check", program.container, "--repair")
        #expect(repair.status == .exited(0) && repair.stdout.contains("cubby.plist.damaged"), "\(repair)")
        #expect(try program("-e", "print(defaults:get('j'))").stderr == "")
    }

    @Test("cubby init writes through no link, in the place of a file or of a folder", arguments: [false, true])
    func editorSettings(forced: Bool) throws {
        let folder = program.scratch.file("scripts")
        try program.scratch.write("theirs", to: "theirs/file")
        for (link, target) in [(".luarc.json", "theirs/file"), (".vscode", "theirs"), ("stylua.toml", "nowhere")] {
            try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try manager.createSymbolicLink(
                atPath: "\(folder)/\(link)", withDestinationPath: program.scratch.file(target))
            let result = try program(["init"] + (forced ? ["--force"] : []) + [folder])
            if forced || link == ".vscode" {
                #expect(result.status == .exited(74) && result.stderr.contains("symbolic link"), "\(link): \(result)")
            }
            #expect(try program.scratch.read("theirs/file") == Data("theirs".utf8))
            #expect(program.scratch.names("theirs") == ["file"])
            #expect(!manager.fileExists(atPath: program.scratch.file("nowhere")))
            try manager.removeItem(atPath: folder)
        }
    }

    @Test("backup and restore leave the folders beside them alone, and whatever else is not theirs")
    func neighbours() throws {
        let names = [
            "b.partial", "b.tar.folder", ".partial-b.tar", "container.restoring", "container.unpacked",
            "container.before-restore-1",
        ]
        for name in names { try program.scratch.write("precious", to: "\(name)/file") }
        for name in ["b", "b.tar"] {
            #expect(try program("backup", program.scratch.file(name)).status == .exited(0))
            let again = try program("backup", program.scratch.file(name))
            #expect(again.status == .exited(74) && again.stderr.contains("give a new name"))
        }
        let restored = try program("restore", "--replace", program.scratch.file("b.tar"))
        #expect(restored.status == .exited(0) && restored.stdout.contains("before-restore-2"), "\(restored)")
        for name in names { #expect(program.scratch.names(name) == ["file"], "\(name)") }
        #expect(
            program.scratch.names()
                == (names + ["b", "b.tar", "container", "container.before-restore-2", "home"]).sorted())
        #expect(try program("-e", "print(items[1].name)").stdout == "new\n")
    }
}
