import Foundation
import TestSupport
import Testing

/// Modules of a LuaRocks tree, and those that Debian has, as scripts require them.
@Suite("Modules", .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
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
}
