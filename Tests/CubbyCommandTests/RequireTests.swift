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
}
