import Lua
import Scripting

/// Lets scripts read lines from the prompt's terminal: during `io.read` it is in its ordinary mode, with echo and the
/// kernel's line editing.
enum TypedInput {
    /// Wraps the functions that read standard input.
    static func install(in host: ScriptHost, beforeReading: @escaping () -> Void, afterReading: @escaping () -> Void) {
        let state = host.state
        let source = """
            local before, after = ...
            local stdin, pack, unpack = io.stdin, table.pack, table.unpack
            local methods = getmetatable(stdin).__index
            local read, lines, readDefault = methods.read, methods.lines, io.read
            local function finish(...) after() return ... end
            methods.read = function(file, ...)
              if file ~= stdin then return read(file, ...) end
              before()
              return finish(read(file, ...))
            end
            methods.lines = function(file, ...)
              if file ~= stdin then return lines(file, ...) end
              local formats = pack(...)
              return function()
                before()
                return finish(read(stdin, unpack(formats, 1, formats.n)))
              end
            end
            io.read = function(...)
              before()
              return finish(readDefault(...))
            end
            """
        func function(_ body: @escaping () -> Void) -> LuaValue {
            .function(
                state.makeFunction(LuaFunctionDeclaration("terminal")) { call in
                    body()
                    return call.returnsNothing()
                })
        }
        _ = host.run(
            Array(source.utf8), name: "=(prompt)", arguments: [function(beforeReading), function(afterReading)])
    }
}
