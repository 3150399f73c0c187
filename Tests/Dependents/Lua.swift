import Lua

let state = try LuaState()
let values = try state.load("return 'o' .. 'k'".utf8, name: "=dependent").call()
if case .string(let text)? = values.first { print(text) }
state.close()
