import Application
import Foundation
import TestSupport
import Testing

/// Scripts that try to leave the container, each against one fence at a time: the other is taken down.
@Suite("Escapes from the sandbox", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct SandboxEscapeTests {
    let program: Program
    let secret: String

    init() throws {
        program = try Program()
        secret = try program.scratch.write("SECRET", to: "outside/secret.txt")
        try program.scratch.write("return 'SECRET'", to: "outside/module.lua")
        try program.scratch.write(
            "<plist version=\"1.0\"><dict><key>k</key><string>SECRET</string></dict></plist>", to: "outside/list.plist")
        try program.scratch.write("name\nSECRET\n", to: "outside/items.csv")
        try program.scratch.write(
            try Data(contentsOf: URL(fileURLWithPath: "\(Project.root)/examples/data/pictures/chair.png")),
            to: "outside/picture.png")
        let documents = "\(program.container)/Documents"
        try FileManager.default.createDirectory(atPath: documents, withIntermediateDirectories: true)
        try program.scratch.write("own", to: "container/Documents/own")
        try FileManager.default.createSymbolicLink(atPath: "\(documents)/link", withDestinationPath: outside)
        try FileManager.default.createSymbolicLink(atPath: "\(documents)/file", withDestinationPath: secret)
    }

    var outside: String { program.scratch.file("outside") }

    /// What gives a script something that it should not have; `OUT` is a folder outside, `IN` the documents.
    static let attempts = [
        // Absolute paths.
        "fs.read('OUT/secret.txt')", "io.open('OUT/secret.txt')", "io.lines('OUT/secret.txt')", "fs.list('OUT')",
        "image.open('OUT/picture.png')", "csv.rows('OUT/items.csv')", "items:import('OUT/items.csv')",
        "fs.write('OUT/new', 'x')", "fs.remove('OUT/secret.txt')", "fs.makeDirectory('OUT/new')",
        "io.open('OUT/new', 'w')", "io.open('OUT/secret.txt', 'r+')", "io.open('OUT/secret.txt', 'a')",
        "os.remove('OUT/secret.txt')", "os.rename('OUT/secret.txt', 'IN/stolen')",
        "csv.write('OUT/new', { { a = 1 } })", "items:export('OUT/new.csv')",
        "archiver.archiveRootObject({ 1 }, 'OUT/new')", "archiver.unarchiveObject('OUT/secret.txt')",
        "archiver.open('OUT/list.plist')", "archiver.open(archiver.archivedData({ 1 })):save('OUT/new')",
        "plist.read('OUT/list.plist')", "plist.write({ 1 }, 'OUT/new')", "items:query():gallery('OUT/new')",
        "fs.hash('OUT/secret.txt')", "fs.walk('OUT')", "fs.copy('OUT/secret.txt', 'IN/stolen')",
        "fs.move('OUT/secret.txt', 'IN/stolen')", "fs.copy('IN/own', 'OUT/new')",
        "fs.move('IN/own', 'OUT/new')",
        // The way up.
        "fs.read('IN/../../outside/secret.txt')", "fs.read('IN/x/../../../outside/secret.txt')",
        "io.open('outside/secret.txt')", "fs.read('./outside/../outside/secret.txt')",
        // Links that were there before.
        "fs.read('IN/link/secret.txt')", "fs.read('IN/file')", "io.open('IN/file', 'r+')", "fs.list('IN/link')",
        "fs.write('IN/link/new', 'x')", "images:image('file'):pngData()", "image.open('IN/link/picture.png')",
        "os.rename('IN/link/secret.txt', 'IN/stolen')", "csv.rows('IN/link/items.csv')",
        "items:import('IN/link/items.csv')", "items:export('IN/link/new.csv')",
        "archiver.archiveRootObject({ 1 }, 'IN/link/new')", "archiver.open('IN/link/list.plist')",
        "plist.read('IN/link/list.plist')", "plist.write({ 1 }, 'IN/link/new')",
        "fs.hash('IN/file')", "fs.walk('IN/link')", "fs.copy('IN/file', 'IN/stolen')",
        "fs.copy('IN/link/secret.txt', 'IN/stolen')", "fs.move('IN/link/secret.txt', 'IN/stolen')",
        "fs.copy('IN/own', 'IN/file')", "fs.copy('IN/own', 'IN/link/new')", "fs.move('IN/own', 'IN/link/new')",
        "csv.write('IN/link/new', { { a = 1 } })", "fs.makeDirectory('IN/link/new')", "os.remove('IN/link/secret.txt')",
        "sqlite.open('OUT/new')", "sqlite.open('IN/link/new')", "sqlite.open('IN/file')",
        "items:export('OUT/new.sqlite')", "items:export('IN/link/new.sqlite')",
        "sqlite.open('IN/a.sqlite'):execute(\"attach 'OUT/new' as other\")",
        "sqlite.open('IN/a.sqlite'):execute(\"vacuum into 'OUT/new'\")",
        // By way of the kernel's own names.
        "fs.read('/proc/self/cwd/outside/secret.txt')", "fs.read('/proc/self/rootOUT/secret.txt')",
        "fs.list('/proc/self/fd/../cwd/outside')", "fs.read('/dev/fd/../cwd/outside/secret.txt')",
        "fs.read('/proc/1/environ')", "io.open('/etc/passwd')",
        // Out of the store's own corners.
        "images:setImage(image.fromData(''), '../../outside/new')", "images:image('../../outside/picture.png')",
        "images:imagePath('../../outside/secret.txt')", "bundle:path('../outside/secret.txt')",
        "bundle:read('../../outside/secret.txt')", "bundle:read('OUT/secret.txt')",
        // Code.
        "load(string.dump(function() end))", "load('\\27Lua')", "loadfile('OUT/module.lua')",
        "dofile('OUT/module.lua')",
        "package.loadlib('/lib/x86_64-linux-gnu/libc.so.6', 'system')", "require('OUT/module')",
        "require('..outside.module')",
        "(function() package.path = 'OUT/?.lua' return require('module') end)()",
        "(function() package.searchers = nil package.searchpath = nil return require('socket') end)()",
        "require('socket').tcp()", "io.open('/dev/tcp/127.0.0.1/80', 'w')",
        // Programs.
        "os.execute('cat OUT/secret.txt')", "io.popen('cat OUT/secret.txt')", "io.tmpfile()", "debug.getregistry()",
    ]

    /// The options that leave only this fence; both stand without any.
    private func only(_ fence: String) -> [String] { fence == "both" ? [] : ["--only-\(fence)-fence"] }

    @Test("is refused, by each fence alone", arguments: ["path", "kernel"])
    func refused(fence: String) throws {
        let before = try program.scratch.contents(of: "outside")
        var script = "local function attempt(text, f)\n"
        script += "  local ok, value, err = pcall(f)\n"
        script += "  if not ok then print('refused', text, (tostring(value):gsub('\\n.*', '')))\n"
        script += "  elseif value == nil or value == false then print('refused', text, err)\n"
        script += "  else print('ESCAPED', text, type(value) == 'string' and value or tostring(value)) end\nend\n"
        let documents = "\(program.container)/Documents"
        for attempt in Self.attempts {
            let code = attempt.replacingOccurrences(of: "OUT", with: outside)
                .replacingOccurrences(of: "IN", with: documents)
            // An error in reading it is a refusal, too: a name that is gone is gone.
            script += "attempt(\(quoted(attempt)), function() return \(code) end)\n"
        }
        let result = try program(
            only(fence) + ["--no-init", "run", "-"], input: script, directory: program.scratch.path)
        #expect(result.status == .exited(0), "\(result.stderr)")
        let lines = result.stdout.split(separator: "\n")
        #expect(lines.count == Self.attempts.count, "\(result.stdout)")
        // A path of an image is text, made without looking; what is there is refused.
        for line in lines {
            #expect(line.hasPrefix("refused"), "\(fence): \(line)")
            // Of a bundle a name that it has not is not a failure.
            #expect(!line.hasSuffix("\tnil") || line.contains("bundle:path"), "\(fence), without a word: \(line)")
        }
        #expect(!result.stdout.contains("SECRET"))
        #expect(try program.scratch.contents(of: "outside") == before)
        #expect(try String(contentsOfFile: secret, encoding: .utf8) == "SECRET")
    }

    @Test("another application's container is out of reach, with both fences and with each")
    func otherContainer() throws {
        let other = try Program()
        _ = try other("-e", "items:createItem{ name = 'theirs' }")
        for fence in ["both", "path", "kernel"] {
            let result = try program(
                only(fence) + ["-e", "print(fs.list('\(other.container)'), io.open('\(other.archive)'))"])
            #expect(result.stdout.hasPrefix("nil\tnil\t"), "\(fence): \(result.stdout)")
        }
    }

    @Test("programs that a script may start are held by the kernel's fence")
    func programs() throws {
        let result = try program(
            "--allow-run", "-e",
            "print(io.popen('cat \(secret) 2>&1; ln \(secret) \(program.container)/Documents/hard 2>&1; ln -s \(secret) \(program.container)/Documents/soft 2>&1'):read('a'))"
        )
        #expect(!result.stdout.contains("SECRET"))
        #expect(
            result.stdout.contains("Permission denied") || result.stdout.contains("cross-device"), "\(result.stdout)")
    }

    @Test(
        "what a plain file may hold reaches nothing: preferences and restoration by way of a link",
        arguments: ["Library/Preferences/cubby.plist", "Library/Application Support/restoration.plist"])
    func links(part: String) throws {
        let path = URL(fileURLWithPath: "\(program.container)/\(part)")
        try FileManager.default.createDirectory(
            at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
        let list = program.scratch.file("outside/list.plist")
        try FileManager.default.createSymbolicLink(atPath: path.path, withDestinationPath: list)
        let before = try Data(contentsOf: URL(fileURLWithPath: list))
        for fence in ["both", "path", "kernel"] {
            let result = try program(
                only(fence) + ["-e", "print(defaults:get('k'), next(app.restoration)) app.restoration.k = 'changed'"])
            #expect(result.status == .exited(65), "\(fence): \(result.stderr)")
            #expect(result.stdout == "", "\(fence)")
            #expect(result.stderr.contains(path.lastPathComponent) && result.stderr.contains(list), "\(fence)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: list)) == before, "\(fence)")
        }
    }

    @Test("--require-sandbox closes the kernel's fence at the prompt, too; the banner says which stand")
    func banner() throws {
        let strict = try program.terminal("--require-sandbox")
        try strict.expect("and Landlock ABI")
        try strict.expect("> ")
        try strict.enter("print((select(2, fs.read(\"/etc/passwd\"))).code)", andExpect: "13")
        try strict.send(control: "d")
        _ = try strict.waitForExit()
        let free = try program.terminal()
        try free.expect("sandbox: paths (")
        try free.expect("> ")
        try free.begin("return fs.read(\"\(secret)\")", andExpect: "Allow reading")
        try free.sendLine("n")
        try free.expect("--allow-read")
        try free.send(control: "d")
        _ = try free.waitForExit()
    }

    private func quoted(_ text: String) -> String {
        "\"" + text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"") + "\""
    }

    @Test(
        "the kernel holds the port, also of the host itself",
        .enabled(if: (Landlock.abi ?? 0) >= 4, "needs Landlock ABI 4"))
    func port() throws {
        let server = try LoopbackServer { _, client in LoopbackServer.send("in", to: client) }
        defer { server.stop() }
        let target = "127.0.0.1:\(server.port)"
        let code = "local r, err = http.get('http://\(target)/') print(r and r.body, err)"
        let closed = try program("--only-kernel-fence", "-e", code)
        #expect(closed.stdout.contains("the kernel's fence was closed without this port"), "\(closed)")
        #expect(server.requests.isEmpty)
        #expect(try program("--only-kernel-fence", "--allow-net", target, "-e", code).stdout == "in\tnil\n")
    }
}
