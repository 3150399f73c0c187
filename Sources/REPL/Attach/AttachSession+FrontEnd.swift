import Images
import Lua
import Scripting
import Wording

/// The front end for the code of an entry.
extension AttachSession {
    var isTerminal: Bool { screen.isTerminal }

    func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool {
        send(AttachMessage(toStandardError ? .errors : .output, bytes))
        return true
    }

    func show(_ image: Image) { draw(printer.picture(image) + "\n", toStandardError: false) }

    var screenColumns: Int { printer.columns }

    func describe(_ table: LuaTable) -> String { printer.describe(.table(table)) }

    func help(onUnknown value: LuaValue) -> String? {
        HelpText(host, functions).ofUndeclared(value, locals: evaluator.scope.locals)
    }

    func show(whole values: [LuaValue]) { page(printer.whole(values)) }

    func show(help text: String) -> Bool {
        page(WrappedText.wrapped(text, to: printer.columns))
        return true
    }
}
