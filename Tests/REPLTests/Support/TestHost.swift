import Application
import Cubby
import LineEditor
import Lua
import Scripting
import TestSupport

@testable import REPL

/// A host in a container of its own, with some items, and what the prompt keeps beside it.
final class TestHost {
    let folder: TemporaryDirectory
    let host: ScriptHost
    var evaluator: Evaluator

    init(timeZone: String = "UTC") throws {
        folder = try TemporaryDirectory()
        var options = ScriptHostOptions(container: ApplicationContainer(path: folder.file("container")))
        options.handlesSignals = false
        options.isInteractive = true
        options.timeZone = timeZone
        host = try ScriptHost(options)
        evaluator = Evaluator(host)
        host.launch()
    }

    /// Runs an entry; its values as the prompt shows them.
    @discardableResult
    func enter(_ entry: String) throws -> String {
        ValuePrinter(host).text(try evaluator.evaluate(entry).get(), seconds: 0)
    }

    /// The same on a screen of some size, with chosen fields; without the line of the duration.
    func lines(_ entry: String, columns: Int = 80, rows: Int = 24, chosen: [String] = []) throws -> [String] {
        var printer = ValuePrinter(host)
        (printer.columns, printer.rows, printer.chosenFields) = (columns, rows, chosen)
        let text = printer.text(try evaluator.evaluate(entry).get(), seconds: 0)
        return text.split(separator: "\n").map(String.init).filter { !$0.contains(" · ") }
    }

    /// The table of an entry's result.
    func table(_ entry: String, columns: Int = 80, rows: Int = 12, chosen: [String] = []) throws -> TableText? {
        var printer = ValuePrinter(host)
        (printer.columns, printer.rows, printer.chosenFields) = (columns, rows, chosen)
        return printer.printed(try evaluator.evaluate(entry).get(), seconds: 0).table
    }

    /// The candidates at the end of a text.
    func complete(_ text: String) -> [String] {
        let completer = Completer(
            host: host, locals: evaluator.scope.locals, functions: FunctionTexts(host))
        return completer.complete(text, text.utf8.count)?.candidates.map(\.text) ?? []
    }
}
