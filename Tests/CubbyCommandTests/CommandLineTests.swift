import CommandTestSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// The command's ways to run Lua, and how it ends.
@Suite("Command line")
struct CommandLineTests {
    let program: Program

    init() throws { program = try Program() }

    static let showArguments =
        "print(arg[0]:match('[^/]*$'), #arg, arg[1], arg[2], arg[3], select('#', ...), (select(2, ...)))\n"

    // MARK: Ways to run

    @Test("run FILE ARGS: the arguments are in arg and in …, whatever they look like")
    func runFile() throws {
        let file = try program.scratch.write(Self.showArguments, to: "show.lua")
        let output = try program("run", file, "one", "--two", "-e")
        #expect(output.stdout == "show.lua\t3\tone\t--two\t-e\t3\t--two\n")
        #expect(output.status == .exited(0))
    }

    @Test("a file from another editor: byte order mark, CR LF line ends, no last line end")
    func otherEditors() throws {
        let file = try program.scratch.write("\u{FEFF}print('marked')\r\nprint('ended')", to: "marked.lua")
        #expect(try program("run", file).stdout == "marked\nended\n")
    }

    @Test("the options mean the same before the word run")
    func optionsBeforeTheWord() throws {
        let file = try program.scratch.write(Self.showArguments, to: "show.lua")
        let container = program.scratch.file("another")
        let output = try program("--container", container, "--no-init", "run", file, "run", "--no-init")
        #expect(output.stdout == "show.lua\t2\trun\t--no-init\tnil\t2\t--no-init\n")
        #expect(output.stderr == "")
        #expect(FileManager.default.fileExists(atPath: container + "/Documents"))
    }

    @Test("options before a command that takes none are refused by its name")
    func optionsOfNoHost() throws {
        let refused = try program("--container", program.scratch.file("x"), "check", "x")
        #expect(refused.status == .exited(64))
        #expect(refused.stderr.hasPrefix("Error: check takes no --container: see cubby help check\n"))
    }

    @Test("-e runs a chunk; what follows is its arguments")
    func chunk() throws {
        #expect(try program("-e", "print(app.state, #items)").stdout == "active\t0\n")
        #expect(try program("-e", "print(...)", "a", "b").stdout == "a\tb\n")
    }

    @Test(
        "-e shows the values of an expression, and nothing of a statement",
        arguments: [
            ("1+1", "2\n"), ("#items", "0\n"), ("#arg, 'a'", "0\n\"a\"\n"), ("{ code = 3 }", "{ code = 3 }\n"),
            ("nil", "nil\n"),
            ("local item = items:createItem{ name = 'Lamp' }", ""), ("return 5", "5\n"), ("local x = 1", ""),
            ("# a comment in files only", ""),
            ("-- nothing", ""), ("1 +", ""),
        ])
    func expression(code: String, shown: String) throws {
        let output = try program("-e", code)
        #expect(output.stdout == shown)
        #expect(output.status == .exited(code.hasPrefix("# a") || code == "1 +" ? 1 : 0))
    }

    @Test("the first line of a file and of standard input may begin with #")
    func firstLine() throws {
        let file = try program.scratch.write("#!/usr/bin/env cubby\nprint('ran')", to: "shebang.lua")
        #expect(try program("run", file).stdout == "ran\n")
        #expect(try program("run", "-", input: "# any\nprint('ran')").stdout == "ran\n")
    }

    @Test("an error that is a table shows its fields")
    func errorTable() throws {
        let output = try program("-e", "error({ code = 3, message = 'no' })")
        #expect(output.stderr.contains("cubby: { code = 3, message = \"no\" }"))
        #expect(output.status == .exited(1))
    }

    @Test("standard input has names, too", arguments: ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])
    func namedInput(name: String) throws {
        let output = try program("run", name, "argument", input: "print(8, arg[1])")
        #expect(output.stdout == "8\targument\n", "\(output.stderr)")
        #expect(try program(name, input: "error('no')").stderr.contains("\(name):1: no"))
        let script = try program.scratch.write("print(...)", to: "words.lua")
        #expect(try program("run", script, name, input: "").stdout == "\(name)\n")
        let tests = try program("test", name, input: "test('one', function() expect(1):equals(1) end)")
        #expect(tests.status == .exited(0), "\(tests.stdout)\(tests.stderr)")
    }

    @Test("standard input is a script when it is not a terminal")
    func standardInput() throws {
        #expect(try program(input: "print('from a pipe', ...)").stdout == "from a pipe\n")
        #expect(try program("run", "-", "argument", input: "print(arg[1])").stdout == "argument\n")
        #expect(try program("-", input: "print(1)").stdout == "1\n")
        let failing = try program(input: "\nerror('no')")
        #expect(failing.stderr.contains("stdin:2: no"))
        #expect(failing.status == .exited(1))
    }

    @Test("lines that were read ahead, and lines that come late, are all read")
    func linesOfInput() throws {
        let result = try program(
            "-e",
            "print(io.read('n', 'l', 'L')) for line in io.lines() do io.write('<', line, '>') end print(io.read())",
            input: "7 rest\nsecond\none\ntwo\nthree")
        #expect(result.stdout == "7\t rest\tsecond\n\n<one><two><three>nil\n")
    }

    @Test(
        "TZ decides what is shown, also within the kernel's fence",
        arguments: [
            ("Europe/Berlin", "1970-01-01 01:00:00 +0100"), ("America/New_York", "1969-12-31 19:00:00 -0500"),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "1970-01-01 01:00:00 +0100"), ("", "1970-01-01 00:00:00 +0000"),
            ("Nowhere/Else", "1970-01-01 00:00:00 +0000"),
        ])
    func zone(variable: String, shown: String) throws {
        let result = try program(["-e", "print(date(0)) print(tostring(date(0)))"], environment: ["TZ": variable])
        #expect(result.status == .exited(0))
        #expect(result.stdout == "\(shown)\n1970-01-01 00:00:00 +0000\n")
    }

    @Test("a script reads the files named on its command line, and requires modules beside it")
    func namedFiles() throws {
        try program.scratch.write("return { word = 'beside' }", to: "scripts/helper.lua")
        let script = try program.scratch.write(
            "print(require('helper').word, fs.read(...), (fs.read('/etc/hostname')))", to: "scripts/main.lua")
        let named = try program.scratch.write("named", to: "elsewhere/file.txt")
        #expect(try program("run", script, named).stdout == "beside\tnamed\tnil\n")
        let folder = program.scratch.file("elsewhere")
        let allowed = try program(
            "--allow-read", folder, "-e", "print(fs.read('\(named)'), (fs.write('\(named)', 'x')))")
        #expect(allowed.stdout == "named\tnil\n")
        let written = try program(
            "--allow-write", folder, "-e", "print(fs.write('\(named)', 'x'), fs.read('\(named)'))")
        #expect(written.stdout == "true\tx\n")
    }

    @Test("-i gives a prompt after the script, with its globals")
    func prompt() throws {
        let terminal = try program.terminal("-i", "-e", "answer = 42 print('do' .. 'ne')")
        try terminal.expect("done")
        try terminal.waitForPrompt()
        try terminal.enter("print('is ' .. answer)", andExpect: "is 42")
        try terminal.send(control: "d")
        #expect(try terminal.waitForExit() == .exited(0))
    }

    // MARK: Where text goes

    @Test("print goes to standard output, the log in NSLog's form to standard error")
    func streams() throws {
        let output = try program(
            "-e", "print('to output') io.write('and ', 1, '\\n') log.info('to the log', 2) io.stderr:write('raw\\n')")
        #expect(output.stdout == "to output\nand 1\n")
        let line =
            /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} cubby\[\d+:[0-9a-f]+\] (?:\[[0-9a-z]{6}\] )?to the log\t?.*2\n/
        #expect(output.stderr.contains(line))
        #expect(output.stderr.hasSuffix("raw\n"))
    }

    @Test("the log is bare on a terminal")
    func bareLog() throws {
        let terminal = try program.terminal("-e", "log.info('to ' .. 'the log')")
        try terminal.expect("to the log")
        try terminal.waitForExit()
        #expect(terminal.transcript == "to the log\n")
    }

    @Test("--log-level hides what is less important")
    func logLevel() throws {
        let code = "log.debug('d') log.info('i') log.warning('w') log.error('e')"
        #expect(try program("--log-level", "warning", "-e", code).stderr.split(separator: "\n").count == 2)
        let all = try program("--log-level", "debug", "-e", code).stderr.split(separator: "\n")
        // The launch says where the items are kept.
        #expect(all.count { !$0.contains("] Saving items to: ") && !$0.contains("] Items: ") } == 4)
        #expect(try program("-e", code).stderr.split(separator: "\n").count == 3)
    }

    // MARK: How it ends

    @Test("a script's error: message, the line itself and the traceback on standard error, and 1")
    func error() throws {
        let file = try program.scratch.write(
            "local function inner(x)\n  return x.field.deeper\nend\n\nprint('before')\ninner{}\n", to: "broken.lua")
        let output = try program("run", file)
        #expect(output.stdout == "before\n")
        #expect(output.status == .exited(1))
        let lines = output.stderr.split(separator: "\n").map(String.init)
        #expect(lines.first?.hasSuffix("broken.lua:2: attempt to index a nil value (field 'field')") == true)
        #expect(lines.dropFirst().first == "  2 |   return x.field.deeper")
        #expect(lines.contains("stack traceback:"))
        #expect(lines.contains { $0.hasSuffix("broken.lua:6: in main chunk") })
    }

    @Test("-l requires modules before anything runs, also from this folder; several -e run one after the other")
    func modulesAndChunks() throws {
        let program = try Program()
        _ = try program.scratch.write("return { name = 'shapes', given = ... }", to: "shapes.lua")
        let output = try program(
            "-l", "shapes", "-e", "print(shapes.name, shapes.given) local x = 1", "-e", "print(x == nil, ...)", "a",
            directory: program.scratch.path)
        // Each chunk has its own locals; a global that is none is an error as ever.
        #expect(output.stdout == "shapes\tshapes\n")
        #expect(output.stderr.contains("undefined global 'x'") && output.status == .exited(1))
        let both = try program("-e", "y = 1", "-e", "print(y, ...)", "a", "b")
        #expect(both.stdout == "1\ta\tb\n")
        let missing = try program("-l", "nowhere", "-e", "print('not run')")
        #expect(missing.status == .exited(1) && missing.stdout.isEmpty && missing.stderr.contains("module 'nowhere'"))
    }

    /// A command line, and how it ends.
    struct Ending: CustomTestStringConvertible {
        var arguments: [String]
        var input = ""
        var status: Int32
        var message: String

        init(_ arguments: [String], input: String = "", _ status: Int32, _ message: String) {
            self.arguments = arguments
            self.input = input
            self.status = status
            self.message = message
        }

        var testDescription: String { arguments.joined(separator: " ") }
    }

    @Test(
        "exit statuses of the contract",
        arguments: [
            Ending(["-e", "return 5"], 0, ""),
            Ending(["-e", "x = = 1"], 1, "unexpected symbol"),
            Ending(["-e", "for"], 1, "<name> expected"),
            Ending(["-e", "error('no')"], 1, "no"),
            Ending(["-e", "error({ code = 1 })"], 1, "{ code = 1 }"),
            Ending(["-e", "error()"], 1, "nil"),
            Ending(["-e", "assert(fs.read(app.container.tmp .. '/none'))"], 1, "No such file or directory"),
            Ending(["-e", "print(anwser)"], 1, "undefined global 'anwser'"),
            Ending(["-e", "os.exit(3)"], 3, ""),
            Ending(["-e", "os.exit(true)"], 0, ""),
            Ending(["-e", "os.exit(false)"], 1, ""),
            Ending(["-e", "app:terminate(7)"], 7, ""),
            Ending(["-e", "pcall(os.exit, 4) while true do end"], 4, ""),
            Ending(["-e", "coroutine.wrap(function() os.exit(5) end)()"], 5, ""),
            Ending(["-e", "timer.after(0, function() os.exit(6) end) app:run()"], 6, ""),
            Ending(
                ["--grace", "0", "-e", "app:beginBackgroundTask('push')"], 1, "background task push: it did not end"),
            Ending(
                ["--grace", "0", "-e", "app:beginBackgroundTask('push', function() os.exit(4) end)"], 4,
                "the background task push has expired: 0 s at the end are over (--grace)"),
            Ending(["--grace", "-1", "-e", "return"], 64, "seconds from 0 to 3600"),
            Ending(["--no-such-option"], 64, "no-such-option"),
            Ending(["run"], 64, "file"),
            Ending(["--memory-limit", "1000001", "-e", "return"], 64, "--memory-limit"),
            Ending(["--time-limit", "never", "-e", "return"], 64, "never"),
            Ending(["--log-level", "loud", "-e", "return"], 64, "loud"),
            Ending(["run", "/no/such/script.lua"], 74, "No such file or directory"),
            Ending(["/no/such/script.lua"], 74, "No such file or directory"),
            Ending(["run", "/"], 74, "directory"),
            Ending(["--container", "/proc/nowhere", "-e", "return"], 74, "/proc/nowhere"),
            Ending(["--time-limit", "0.05", "-e", "while true do end"], 1, "time is up"),
            Ending(["--time-limit", "0.05", "-e", "timer.sleep(1000)"], 1, "time is up"),
            Ending(
                ["--time-limit", "0.05", "-e", "while true do pcall(function() while true do end end) end"], 1,
                "time is up"),
            Ending(
                ["--memory-limit", "20", "-e", "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end"], 1,
                "not enough memory"),
            Ending(["--memory-limit", "20", "-e", "return ('x'):rep(1 << 30)"], 1, "not enough memory"),
            Ending(["-e", "return ('x'):rep(-1)"], 0, ""),
            Ending(["-e", "local function f() return f() + 1 end f()"], 1, "stack overflow"),
            Ending(["run", "-"], input: "os.exit(9)", 9, ""),
            Ending(["-i"], input: "error('no')", 1, "no"),
            Ending(["-i", "-e", ""], input: "error('no')\nprint(1)\n", 1, "no"),
            Ending(["-i", "-e", ""], input: "error('no')\n:quit\n", 1, "no"),
            Ending(["-i", "-e", ""], input: ":quit\n", 0, ""),
            Ending(["-i", "-e", "error('no')"], input: "print(1)\n", 1, "no"),
            Ending(["-i", "-e", ""], input: "print(1)\n", 0, ""),
            Ending(["-i", "-e", ""], input: "error('no')\nos.exit(4)\n", 4, "no"),
        ])
    func status(ending: Ending) throws {
        let output = try program(ending.arguments, input: ending.input, environment: [:], directory: nil)
        #expect(output.status == .exited(ending.status))
        #expect(output.stderr.contains(ending.message) || ending.message.isEmpty, "\(output.stderr)")
        if ending.status == 0 { #expect(output.stderr == "") }
    }

    @Test("a store that can't be read is 65, and is left as it is")
    func badData() throws {
        _ = try program("-e", "items:createItem{ name = 'a' }")
        let damaged = Data("bplist00 and then nothing that makes sense".utf8)
        try damaged.write(to: URL(fileURLWithPath: program.archive))
        let output = try program("-e", "print(#items)")
        #expect(output.status == .exited(65))
        #expect(output.stderr.contains("items.archive"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: program.archive)) == damaged)
    }

    @Test("--help and --version say what there is, and end in 0")
    func help() throws {
        let help = try program("--help")
        #expect(help.status == .exited(0))
        #expect(help.stdout.contains("cubby run [<options>] FILE"))
        #expect(help.stdout.contains("cubby help start"))
        let options = try program("help", "start")
        for option in ["--container", "--read-only", "--memory-limit", "--time-limit", "--no-init", "-e", "-i"] {
            #expect(options.stdout.contains(option))
        }
        #expect(try program("--version").status == .exited(0))
    }

    // MARK: The container

    @Test("os.exit saves, and so does an error: what was done before it stays")
    func savedOnTheWayOut() throws {
        #expect(try program("-e", "items:createItem() os.exit(3)").status == .exited(3))
        #expect(program.isSaved)
        #expect(try program("-e", "items:createItem() error('no')").status == .exited(1))
        #expect(
            try program("-e", "pcall(items.transaction, items, function() items:createItem() error() end)").status
                == .exited(0))
        #expect(try program.itemCount() == "2")
    }

    @Test("what is kept comes back in order, byte for byte, with its pictures")
    func secondRun() throws {
        let pictures = "\(Project.root)/examples/data/pictures"
        _ = try program(
            "--allow-read", pictures, "-e",
            """
            for i = 1, 100 do items:createItem{ name = "é \\"q\\"\\r\\n" .. i, tags = { i, { deep = i / 2 } }, big = math.mininteger + i } end
            items:moveItem(100, 1)
            items[1].image = assert(image.open("\(pictures)/" .. fs.list("\(pictures)")[1]))
            """)
        let output = try program(
            "-e",
            """
            print(#items, items[1].name == "é \\"q\\"\\r\\n100", items[100].name == "é \\"q\\"\\r\\n99", items[2].tags[2].deep)
            print(items[2].tags[1], math.type(items[2].tags[1]), items[2].big == math.mininteger + 1, items[1].image.format, items.hasChanges)
            """)
        #expect(output.stdout == "100\ttrue\ttrue\t0.5\n1\tinteger\ttrue\tjpeg\tfalse\n")
        #expect(output.stderr == "")
    }

    @Test("init.lua runs at every launch; --no-init leaves it out; a broken one is reported and skipped")
    func initScript() throws {
        _ = try program("-e", "return")
        let path = "\(program.container)/Library/Scripts/init.lua"
        func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
        try write("app:on('didFinishLaunching', function(e) print(e.name, app.state) end) mine = 1\n")
        #expect(try program("-e", "print(mine)").stdout == "didFinishLaunching\tinactive\n1\n")
        #expect(try program("--no-init", "-e", "print(rawget(_G, 'mine'))").stdout == "nil\n")
        for broken in ["mine = 1\nerror('broken')", "mine = = 1", "app:on('nothing', print)"] {
            try write(broken)
            let output = try program("-e", "print('goes on')")
            #expect(output.stdout == "goes on\n")
            #expect(output.stderr.contains("init.lua"))
            #expect(output.stderr.contains("skipped"))
            #expect(output.status == .exited(0))
        }
        try write("items:createItem{ name = 'by init' }")
        #expect(try program("-e", "print(#items)").stdout == "1\n")
    }

    @Test("what only reads the items runs no init.lua, whatever is in it")
    func initScriptOfReaders() throws {
        _ = try program("-e", "items:createItem{ name = 'Sofa' }")
        try Data("print('by init') items:createItem{ name = 'by init' } while true do end\n".utf8)
            .write(to: URL(fileURLWithPath: "\(program.container)/Library/Scripts/init.lua"))
        let folder = program.scratch.file("out")
        let runs: [[String]] = [
            ["export", "--format", "csv", "-"], ["export", "\(folder).json"], ["gallery", folder],
            ["report", "\(folder).html"], ["check", program.container], ["config"], ["backup", "\(folder).tar"],
        ]
        for arguments in runs {
            let output = try program(arguments)
            #expect(output.status == .exited(0), "\(arguments): \(output.stderr)")
            #expect(!output.stdout.contains("by init"), "\(arguments): \(output.stdout)")
        }
        #expect(try program("--no-init", "-e", "print(#items)").stdout == "1\n")
    }

    @Test("an empty archive is a first run; without CUBBY_CONTAINER the data lives in the home")
    func firstRun() throws {
        _ = try program("-e", "return")
        #expect(!program.isSaved)
        try Data().write(to: URL(fileURLWithPath: program.archive))
        let output = try program("-e", "print(#items)")
        #expect(output.stdout == "0\n")
        #expect(output.status == .exited(0))
        let path = ["-e", "io.write(app.container.path)"]
        let home = try program(path, environment: ["CUBBY_CONTAINER": nil])
        #expect(home.stdout == program.scratch.file("home/.local/share/cubby"))
        let xdg = try program(
            path, environment: ["CUBBY_CONTAINER": nil, "XDG_DATA_HOME": program.scratch.file("xdg")])
        #expect(xdg.stdout == program.scratch.file("xdg/cubby"))
    }

    @Test("a container that is moved to another path still loads")
    func moved() throws {
        _ = try program("-e", "items:createItem{ name = 'moved' }")
        let target = program.scratch.file("moved")
        try FileManager.default.moveItem(atPath: program.container, toPath: target)
        #expect(try program("--container", target, "-e", "print(#items, items[1].name)").stdout == "1\tmoved\n")
    }

    @Test("tmp and Caches may vanish between runs")
    func vanishing() throws {
        _ = try program("-e", "items:createItem() fs.write(app.container.tmp .. '/left', 'x')")
        #expect(try program("-e", "print(#fs.list(app.container.tmp))").stdout == "0\n")
        for folder in ["tmp", "Library/Caches"] {
            try FileManager.default.removeItem(atPath: "\(program.container)/\(folder)")
        }
        #expect(try program("-e", "print(#items, fs.exists(app.container.caches))").stdout == "1\ttrue\n")
    }

    @Test("a script sets its own status", arguments: ["os.exit(3)", "app:terminate(3)"])
    func own(_ code: String) throws {
        #expect(try program("-e", code).status == .exited(3))
        // Nor does a second wish on the way out change it.
        let again = "app:on('willTerminate', function() app:terminate(4) end) \(code)"
        #expect(try program("--no-strict", "-e", again).status == .exited(3))
    }

    @Test("a handler or a timer that ends the application has not failed")
    func endedByHandler() throws {
        for code in [
            "app:on('user.x', function() os.exit(0) end) app:emit('user.x')",
            "timer.after(0, function() app:terminate() end) app:run()",
            "app:on('willTerminate', function() os.exit(0) end)",
            "notifications:addObserver('note', function() os.exit() end) notifications:post('note')",
        ] {
            let output = try program("--strict", "-e", code)
            #expect(output.status == .exited(0), "\(code): \(output.stderr)")
            #expect(output.stderr == "")
        }
    }

    @Test("no two options together leave none")
    func oneFenceStays() throws {
        let result = try program("--only-path-fence", "--only-kernel-fence", "-e", "print(1)")
        #expect(result.status == .exited(64) && result.stdout.isEmpty)
        #expect(result.stderr.contains("leave no fence"))
    }
}
