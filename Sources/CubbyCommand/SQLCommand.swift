import Application
import ArgumentParser
import Files
import Items
import LineEditor
import Lua
import PropertyList
import REPL
import Scripting

/// `cubby sql TEXT`: a statement over the items, and over files.
struct SQLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql",
        abstract: "Run a SQL statement over items and files; - reads it from standard input.",
        discussion: """
            The table items has a column for each field; csv('PATH'), jsonl('PATH'), json('PATH') and xlsx('PATH') are \
            tables of files, which --allow-read opens. A statement that reads changes nothing, and leaves a running \
            container alone; what another one changes is saved.
            """)

    /// How rows are written.
    enum Format: String, CaseIterable {
        case table, csv, tsv, json, jsonl, markdown
    }

    @OptionGroup var host: HostOptions

    @Option(
        help: ArgumentHelp(
            "\(Format.allCases.map(\.rawValue).joined(separator: ", ")) (default: table).", valueName: "format"),
        completion: .list(Format.allCases.map(\.rawValue)))
    var format = Format.table.rawValue

    @Option(
        help: ArgumentHelp(
            "The value of the parameter $name, or by its number of ?; a number, or a text, also in single quotes.",
            valueName: "name=value"))
    var param: [String] = []

    @Option(
        help: ArgumentHelp(
            "Write infinities as null, in a format, which has none (default: an error).", valueName: "null"),
        completion: .list(["null"]))
    var nan: String?

    @Flag(help: "Show what a change would change, and change nothing.")
    var dryRun = false

    @Argument(help: ArgumentHelp("The statement, or - for standard input.", valueName: "text"))
    var text: String

    func validate() throws {
        guard Format(rawValue: format) != nil else {
            let names = Format.allCases.map(\.rawValue)
            let hint = NearestNames.hint(for: format, among: names)
            throw ValidationError("--format takes one of \(names.joined(separator: ", "))\(hint).")
        }
        if let nan {
            guard nan == "null" else { throw ValidationError("--nan takes null.") }
            guard format != Format.table.rawValue else {
                throw ValidationError("--nan is for a --format: a table has inf.")
            }
        }
        if let wrong = param.first(where: { !$0.dropFirst().contains("=") }) {
            throw ValidationError("--param takes NAME=VALUE, and '\(wrong)' has no value.")
        }
        let parameters = param.map(SQLParameter.init)
        for (index, parameter) in parameters.enumerated()
        where parameters[..<index].contains(where: { $0.name == parameter.name }) {
            throw ValidationError("--param gives '\(parameter.name)' twice.")
        }
        let numbers = parameters.compactMap { Int($0.name) }
        guard numbers.isEmpty || numbers.sorted() == Array(1...max(parameters.count, 1)) else {
            throw ValidationError("--param: numbered values are 1 to \(parameters.count), each once, without names.")
        }
    }

    func run() throws {
        var host = host
        // Somebody else's container may be read: its script is not run for that.
        host.noInit = true
        let statement = text == "-" ? try statementOnInput() : text
        if SQLEntry.isReading(statement), let container = present {
            // What a newer program wrote is shown to who asks for it.
            if !host.readOnly { try ContainerCheck.checkFormat(container) }
            host.readOnly = true
        }
        let format = Format(rawValue: format) ?? .table
        let work = HostWork(Self.chunk, name: "cubby sql", status: Self.status) { results, host in
            Self.report(results, format, host)
        }
        let words = param.map(SQLParameter.init).flatMap { [$0.name, $0.kind.rawValue, $0.value] }
        let options = [statement, format.rawValue, nan ?? "", dryRun ? "dry" : ""]
        try ScriptSession(host, source: .work(work), arguments: options + words).run()
    }

    /// The container, which another process may have open; nil if there is none.
    private var present: ApplicationContainer? {
        guard host.shared == nil, ProcessEnvironment.value("CUBBY_SHARED")?.isEmpty ?? true,
            !ContainerArgument.isMemory(host.container), let container = ApplicationContainer.locate(host.container)
        else { return nil }
        return PosixFileLayer().exists(container.documents) ? container : nil
    }

    /// There is nothing to save yet: signals end and stop the process as any other.
    private func statementOnInput() throws -> String {
        SignalMask.restore()
        defer { SignalMask.blockAtLaunch() }
        let bytes: [UInt8]
        do throws(FileError) {
            let input = OpenFile(descriptor: StandardDescriptor.input, path: "standard input")
            bytes = try PosixFileLayer().contents(of: input, limit: 16 << 20)
        } catch {
            throw CommandFailure.exit(.inputOutput, error.message)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure.exit(.badData, "standard input is not UTF-8 text")
        }
        return text
    }

    /// The chunk, as a script would write it.
    private static let chunk = """
        local text, format, nan, dry = ...
        local words = { select(5, ...) }
        local named, numbered, count = {}, {}, 0
        for place = 1, #words, 3 do
            local name, value = words[place], words[place + 2]
            if words[place + 1] == "number" then value = tonumber(value) end
            named[name] = value
            local number = math.tointeger(tonumber(name))
            if number then numbered[number], count = value, count + 1 end
        end
        local rows
        local function run()
            if count > 0 then
                rows = sql(text, table.unpack(numbered, 1, count))
            elseif #words > 0 then
                rows = sql(text, named)
            else
                rows = sql(text)
            end
        end
        if dry == "dry" then
            local diff = items:dryRun(run)
            if math.type(rows) then return diff end
        else
            run()
        end
        if math.type(rows) or format == "table" then return rows end
        rows:export("-", { format = format, nan = nan ~= "" and nan or nil })
        return rows
        """

    private static func report(_ results: [LuaValue], _ format: Format, _ host: ScriptHost) {
        guard let result = results.first else { return }
        if case .integer(let count) = result {
            let text = "\(Int(clamping: count).counted("item")) changed"
            return format == .table ? Report.line(text) : host.inform(text)
        }
        if case .rows(let rows) = host.inspect(result), format != .table {
            if StandardStream.error.isTerminal { host.inform(rows.count.counted("row")) }
            return
        }
        var printer = ValuePrinter(host)
        printer.showsTimes = false
        if let size = TerminalSize(descriptor: StandardDescriptor.output) {
            (printer.columns, printer.rows, printer.isUnlimited) = (size.columns, size.rows, true)
        } else {
            printer.isWhole = true
        }
        host.write(Array(printer.text([result], seconds: 0).utf8))
    }

    /// The exit status of an error: the command line, which has the statement, the data or the disk.
    private static func status(_ error: LuaError) -> ExitStatus {
        guard let statement = error.underlying as? StatementError else { return .ofExchange(error) }
        switch statement.error.code {
        case .syntax, .incomplete, .denied, .parameter: return .usage
        case .file: return .badData
        case .unavailable: return .unavailable
        case .limit, .constraint, .failed: return .scriptError
        }
    }
}

/// A parameter's value on the command line.
struct SQLParameter {
    enum Kind: String { case number, text }

    let name: String
    let kind: Kind
    let value: String

    /// A value in single quotes, as SQL has texts, is a text; else what reads as a number is one, unless it would lose
    /// digits or a zero in front.
    init(_ word: String) {
        let equals = word.firstIndex(of: "=") ?? word.endIndex
        let name = word[..<equals]
        self.name = String(name.first.map { "$:@?".contains($0) } ?? false ? name.dropFirst() : name)
        let value = String(word[equals...].dropFirst())
        if value.count >= 2, value.hasPrefix("'"), value.hasSuffix("'") {
            (kind, self.value) = (.text, String(value.dropFirst().dropLast()).replacing("''", with: "'"))
            return
        }
        (kind, self.value) = (Self.isNumber(value) ? .number : .text, value)
    }

    private static func isNumber(_ text: String) -> Bool {
        guard text.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/) != nil else { return false }
        if text.allSatisfy({ $0.isNumber || $0 == "-" }) { return Int64(text) != nil && text != "-0" }
        guard let number = Double(decimal: text) else { return false }
        var digits = text
        return digits.withUTF8 { DecimalText.hasAllDigits(number, of: $0) }
    }
}
