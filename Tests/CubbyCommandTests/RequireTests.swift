import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// Modules of a LuaRocks tree, and those that Debian has, as scripts require them.
@Suite("Modules")
struct RequireTests {
    let program: Program

    init() throws { program = try Program() }

    @Test("modules in Lua come from the user's tree; C modules are refused with a reason") func userTree() throws {
        let tree = "home/.luarocks"
        _ = try program.scratch.write("return { word = 'rock' }", to: "\(tree)/share/lua/5.4/stone.lua")
        _ = try program.scratch.write(
            "return { word = 'hard ' .. require('stone').word }", to: "\(tree)/share/lua/5.4/hard/init.lua")
        _ = try program.scratch.write("no library", to: "\(tree)/lib/lua/5.4/native.so")
        let output = try program(
            "-e", "print(require('hard').word, select(2, pcall(require, 'native')))")
        #expect(output.status == .exited(0), "\(output.stderr)")
        #expect(output.stdout.contains("hard rock\t"))
        #expect(
            output.stdout.contains(
                "module 'native' is a C module (~/.luarocks/lib/lua/5.4/native.so). C modules are not loaded without --allow-ffi"
            ))
    }

    @Test("modules of a tree may ask for names that other versions of Lua have; scripts may not")
    func idioms() throws {
        let source =
            "local unpack = _G.unpack or unpack or table.unpack return { unpack = unpack, new = setfenv == nil }"
        _ = try program.scratch.write(source, to: "home/.luarocks/share/lua/5.4/idiom.lua")
        let output = try program("-e", "local idiom = require('idiom') print(idiom.new, idiom.unpack{ 1, 2 })")
        #expect(output.stdout == "true\t1\t2\n", "\(output.stderr)")
        _ = try program.scratch.write(source, to: "own.lua")
        let own = try program("run", program.scratch.file("own.lua"))
        #expect(own.stderr.contains("own.lua:1: undefined global 'unpack'"), "\(own.stderr)")
    }

    @Test("--module-path and its setting name folders that require alone may read") func modulePath() throws {
        try program.scratch.write("return { word = 'shared' }", to: "lib/shared.lua")
        try program.scratch.write("return { word = require('shared').word .. ' pack' }", to: "lib/pack/init.lua")
        try program.scratch.write("return { word = 'second' }", to: "more/second.lua")
        let (lib, more) = (program.scratch.file("lib"), program.scratch.file("more"))
        let script = "print(require('pack').word, require('second').word)"
        #expect(try program("-e", script).status == .exited(1))
        let given = try program("--module-path", lib, "--module-path", more, "-e", script)
        #expect(given.stdout == "shared pack\tsecond\n", "\(given.stderr)")
        #expect(try program("--module-path", lib, "-e", "print((fs.read('\(lib)/shared.lua')))").stdout == "nil\n")
        // A folder of the configuration is absolute, and stays beside those of a run.
        let set = try program("config", "set", "module-path", "lib", directory: program.scratch.path)
        #expect(set.stdout == "module-path is \(lib)\n", "\(set.stderr)")
        let both = try program("--module-path", more, "-e", script)
        #expect(both.stdout == "shared pack\tsecond\n", "\(both.stderr)")
        #expect(try program("config").stdout.contains("\(lib)"))
        try FileManager.default.removeItem(atPath: lib)
        let gone = try program("--module-path", more, "-e", "print(require('second').word)")
        #expect(gone.stdout == "second\n" && gone.stderr.contains("the configured module-path \(lib) is not there"))
        #expect(try program("config", "set", "module-path", "").status == .exited(64))
        #expect(try program("--module-path", program.scratch.file("nowhere"), "-e", "").status != .exited(0))
    }

    @Test("LUA_PATH is searched where it is granted; else the error and doctor say which grant is missing")
    func luaPath() throws {
        try program.scratch.write("return 'of LUA_PATH'", to: "lib/stone.lua")
        let lib = program.scratch.file("lib")
        let variables: [String: String?] = ["LUA_PATH": "\(lib)/?.lua;;\(lib)/?/init.lua"]
        let script = "print((require('stone')))"
        let refused = try program("-e", script, environment: variables)
        #expect(refused.status == .exited(1))
        #expect(
            refused.stderr.contains(
                "'\(lib)/stone.lua' of LUA_PATH is outside the sandbox; --module-path \(lib) grants it"))
        for options in [["--module-path", lib], ["--allow-read", lib]] {
            let granted = try program(options + ["-e", script], environment: variables)
            #expect(granted.stdout == "of LUA_PATH\n", "\(granted.stderr)")
        }
        let doctor = try program("doctor", environment: variables).stdout
        #expect(doctor.contains("\(lib)/?.lua (not granted: ignored)"), "\(doctor)")
        #expect(doctor.contains("cubby config set module-path \(lib)"))
        _ = try program("config", "grant", "read", lib)
        let now = try program("doctor", environment: variables).stdout
        #expect(now.contains("\(lib)/?.lua; ") && !now.contains("not granted"), "\(now)")
        #expect(now.contains("2 s for a handler"))
        // That of the version comes first.
        let own = try program(
            "-e", script, environment: ["LUA_PATH": "/nowhere/?.lua", "LUA_PATH_5_4": "\(lib)/?.lua"])
        #expect(own.stdout == "of LUA_PATH\n", "\(own.stderr)")
    }

    @Test("a script that changes package.path is heard, within the sandbox") func packagePath() throws {
        try program.scratch.write("return 'beside'", to: "work/lib/near.lua")
        try program.scratch.write("return 'elsewhere'", to: "far/away.lua")
        let script = try program.scratch.write(
            """
            package.path = "./lib/?.lua;" .. package.path .. ";\(program.scratch.file("far"))/?.lua"
            print((require("near")))
            print((select(2, pcall(require, "away")):match("outside the sandbox; %-%-module%-path")))
            package.path = nil
            print((pcall(require, "other")))
            """, to: "work/script.lua")
        let output = try program("run", script, directory: program.scratch.file("work"))
        #expect(output.stdout == "beside\noutside the sandbox; --module-path\nfalse\n", "\(output.stderr)")
    }

    static let compiler = ["/usr/bin/cc", "/usr/bin/gcc", "/usr/bin/clang"].first {
        FileManager.default.isExecutableFile(atPath: $0)
            && FileManager.default.fileExists(atPath: "/usr/include/lua5.4")
    }

    @Test(
        "--allow-ffi lets C modules be loaded, and says why one cannot be",
        .enabled(if: compiler != nil, "needs a C compiler and Lua's headers"))
    func native() throws {
        let tree = "home/.luarocks/lib/lua/5.4"
        let source = try program.scratch.write(
            """
            #include <lua.h>
            static int answer(lua_State *L) { lua_pushinteger(L, 42); return 1; }
            int luaopen_deep_stone(lua_State *L) { lua_pushcfunction(L, answer); return 1; }
            """, to: "stone.c")
        _ = try program.scratch.write("no library", to: "\(tree)/broken.so")
        _ = try program.scratch.write("", to: "\(tree)/deep/empty")
        let library = program.scratch.file("\(tree)/deep/stone.so")
        let compiler = try #require(Self.compiler)
        let made = try run(compiler, ["-shared", "-fPIC", "-I/usr/include/lua5.4", "-o", library, source])
        #expect(made.status == .exited(0), "\(made.stderr)")
        let script = "local stone, place = require('deep.stone') print(stone(), place, #package.cpath > 0)"
        let loaded = try program("--allow-ffi", "-e", script)
        #expect(loaded.stdout == "42\t~/.luarocks/lib/lua/5.4/deep/stone.so\ttrue\n", "\(loaded.stderr)")
        #expect(try program("-e", script).stderr.contains("--allow-ffi"))
        let broken = try program("--allow-ffi", "-e", "require('broken')")
        #expect(broken.status == .exited(1))
        #expect(broken.stderr.contains("broken.so, which cannot be loaded: "))
    }

    /// What Penlight has that needs neither LuaFileSystem nor the table of globals for itself.
    static let penlight = [
        "Date", "List", "Map", "MultiMap", "OrderedMap", "Set", "array2d", "class", "compat", "comprehension", "config",
        "data", "func", "import_into", "input", "lapp", "lexer", "luabalanced", "operator", "permute", "pretty", "seq",
        "sip", "stringio", "stringx", "tablex", "template", "text", "types", "url", "utils", "xml",
    ]

    @Test(
        "Debian's lua-penlight loads under strict globals",
        .enabled(
            if: FileManager.default.fileExists(atPath: "/usr/share/lua/5.4/pl/List.lua"),
            "lua-penlight is not installed"))
    func debian() throws {
        let names = Self.penlight.map { "'pl.\($0)'" }.joined(separator: ", ")
        let output = try program(
            "-e",
            """
            for _, name in ipairs{ \(names) } do require(name) end
            print(require('pl.List'){ 3, 1, 2 }:sort():map(function(n) return n * 2 end))
            print(require('pl.stringx').split('a b c'):concat('-'), require('pl.tablex').keys{ a = 1 }[1])
            print((select(2, pcall(require, 'pl.path'))))
            """)
        #expect(output.status == .exited(0), "\(output.stderr)")
        let lines = output.stdout.split(separator: "\n").map(String.init)
        #expect(lines.first == "{2,4,6}")
        #expect(lines.dropFirst().first == "a-b-c\ta")
        #expect(lines.last?.hasSuffix("pl.path requires LuaFileSystem") == true)
    }

    /// Other modules of Debian, and what they give for an expression `m`.
    static let others = [
        ("/usr/share/lua/5.3/inspect.lua", "m({ 1, 2, a = 'x' })", "{ 1, 2,\n  a = \"x\"\n}\n"),
        ("/usr/share/lua/5.4/say/init.lua", "m._VERSION", "Say 1.3\n"),
        ("/usr/share/lua/5.4/cliargs.lua", "type(m.parse)", "function\n"),
        ("/usr/share/lua/5.4/argparse.lua", "m('name')._name", "name\n"),
        ("/usr/share/lua/5.4/dkjson.lua", "m.encode({ 1, { a = true } })", "[1,{\"a\":true}]\n"),
    ]

    @Test("Debian's modules in Lua, as far as they are installed", arguments: others)
    func debianModule(path: String, expression: String, expected: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { try Test.cancel("\(path) is not installed") }
        let name =
            path.replacingOccurrences(of: "/init.lua", with: ".lua")
            .split(separator: "/").last.map { String($0.dropLast(4)) } ?? ""
        if !path.contains("/5.4/") {
            // Not linked into the tree of 5.4: laid beside the script, as one would.
            _ = try program.scratch.write(String(contentsOfFile: path, encoding: .utf8), to: "\(name).lua")
        }
        let script = try program.scratch.write("local m = require('\(name)') print(\(expression))", to: "script.lua")
        let output = try program("run", script)
        #expect(output.stdout == expected, "\(output.stderr)")
    }

    static let hasPenlight = FileManager.default.fileExists(atPath: "/usr/share/lua/5.4/pl/tablex.lua")

    @Test("Penlight loads in a test, and compares tables", .enabled(if: hasPenlight, "lua-penlight is not installed"))
    func testHelpers() throws {
        try program.scratch.write(
            """
            local tablex, pretty = require "pl.tablex", require "pl.pretty"
            test("compares", function()
              expect(tablex.deepcompare({ 1, { a = 2 } }, { 1, { a = 2 } })):isTrue()
              expect(pretty.write({ 1 }, "")):equals("{1}")
            end)
            """, to: "helpers_test.lua")
        let output = try program("test", program.scratch.file("helpers_test.lua"))
        #expect(output.status == .exited(0), "\(output.stdout)")
    }
}
