public import Application
public import CSV
public import Files
public import Images
public import Items
public import KeyedArchive
public import Lua
public import PredicateFormat
public import PropertyList
package import SQLite

/// An error for display: the message, its source line, and the traceback.
package enum ErrorText {
    /// The message and, where its source is known, an excerpt. No trailing line break. Control characters are escaped.
    ///
    /// - Parameters:
    ///   - error: the error.
    ///   - sources: the texts of chunks.
    ///   - traceback: whether to show the calls.
    /// - Returns: the text.
    package static func describe(
        _ error: LuaError, sources: SourceTexts, traceback: Bool = true
    ) -> String {
        var error = error
        error.message = error.message.shortened(to: 1 << 15)
        let place = place(in: error.message)
        let line = place.flatMap { sources.line($0.line, of: $0.chunk) }
        var text = ElementHint.message(error.message, line: line)
        if let place, let line,
            let excerpt = SourceExcerpt(
                line,
                marking: ErrorCaret.range(of: error, in: sources.text { $0 == place.chunk } ?? "", line: place.line)
                    ?? ErrorCaret.range(of: text, in: line))
        {
            let number = String(place.line)
            text += "\n  \(number) | \(excerpt.text)"
            if let marks = excerpt.marks {
                text += "\n  \(String(repeating: " ", count: number.count)) | \(marks)"
            }
        }
        // A single main chunk repeats the message's place.
        if traceback, let frames = frames(of: error), frames.count > 1 {
            text += "\nstack traceback:\n" + frames.map { "\t" + $0 }.joined(separator: "\n")
        }
        return VisibleText.escaped(text)
    }

    /// The place at the start of a message: `chunk:line:`.
    package static func place(in message: String) -> (chunk: String, line: Int)? {
        guard let end = message.firstRange(of: ": ")?.lowerBound else { return nil }
        let head = message[..<end]
        guard let colon = head.lastIndex(of: ":"), let line = Int(head[head.index(after: colon)...]) else { return nil }
        return (String(head[..<colon]), line)
    }

    /// The traceback's frames without those of the host.
    static func frames(of error: LuaError) -> [String]? {
        guard let traceback = error.traceback else { return nil }
        var shown = traceback.split(separator: "\n").dropFirst().map { $0.drop { $0.is("\t") } }
            .filter { !$0.hasPrefix("[C]: in ?") }
            .drop { $0.hasPrefix("[C]: in ") }.map(String.init)
        // An expression at a prompt is a tail call of its chunk.
        if shown.last == "(...tail calls...)" { shown.removeLast() }
        return collapsed(shown)
    }

    /// The frames; a recursion's equal ones are one line with their number. Lua omits those in the middle.
    private static func collapsed(_ frames: [String]) -> [String] {
        var all: [(frame: String, count: Int)] = []
        for (index, frame) in frames.enumerated() {
            if let last = all.last, frame == last.frame {
                all[all.count - 1].count += 1
            } else if let skipped = frame.firstMatch(of: /skipping (\d+) levels/), let count = Int(skipped.1),
                let last = all.last, last.count > 1, frames[(index + 1)...].first == last.frame
            {
                all[all.count - 1].count += count
            } else {
                all.append((frame, 1))
            }
        }
        return all.flatMap { frame, count in
            count < 3
                ? Array(repeating: frame, count: count)
                : [frame, "... (\((count - 1).counted("more call")) of it)"]
        }
    }
}

/// The position of an error in its source line, derived from the message: Lua's messages have the line only.
package enum ErrorCaret {
    /// The characters that a message refers to; nil if they are not in the line, or if several places may be meant.
    package static func range(of message: String, in line: some StringProtocol) -> Range<Int>? {
        let characters = Array(line)
        // Further lines of the message are an excerpt.
        let message = String(message.prefix { !$0.is("\n") })
        let (isCode, open) = code(characters)
        if message.contains("unfinished string"), let open { return open..<characters.count }
        if message.hasSuffix("near <eof>") { return characters.count..<characters.count + 1 }
        // Suggested names are quoted as well.
        let statement = message.split(separator: "; did you mean", maxSplits: 1).first.map(String.init) ?? message
        for word in candidates(in: statement) {
            let found = occurrences(of: Array(word), in: characters)
            let named = found.filter { isCode[$0.lowerBound] && Kind(of: statement).fits($0.lowerBound, characters) }
            if named.isEmpty, let first = found.first { return first }
            // Each occurrence of a variable has the same value; two fields of one name are of two tables.
            if let first = named.first { return named.count == 1 || Kind(of: statement) == .other ? first : nil }
        }
        return nil
    }

    /// The characters at a syntax error: the first occurrence of the token that it names by which no text can go on.
    package static func range(of error: LuaError, in text: String, line number: Int) -> Range<Int>? {
        guard case .syntax = error.kind, let state = try? LuaState() else { return nil }
        let named = error.message.split(separator: " near '", maxSplits: 1)
        guard named.count == 2, let end = named[1].lastIndex(of: "'") else { return nil }
        let token = Array(named[1][..<end])
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(number - 1), !token.isEmpty else { return nil }
        let before = lines[..<(number - 1)].map { $0 + "\n" }.joined()
        let line = Array(lines[number - 1])
        return occurrences(of: token, in: line).first { place in
            let prefix = before + String(line[..<place.upperBound])
            return !canContinue(prefix, state) && !canContinue("return " + prefix, state)
        }
    }

    private static func canContinue(_ text: String, _ state: LuaState) -> Bool {
        do throws(LuaError) {
            _ = try state.load(Array(text.utf8), name: "=place")
            return true
        } catch {
            return error.kind == .syntax(incomplete: true)
        }
    }

    // MARK: What a message names

    /// What stands before a name that a message quotes.
    private enum Kind {
        case field, method, other

        init(of message: String) {
            self = message.contains("(field '") ? .field : message.contains("(method '") ? .method : .other
        }

        func fits(_ start: Int, _ line: [Character]) -> Bool {
            let before = line[..<start].last { !$0.is(" ") }
            switch self {
            case .field:
                let isAfterTwo = line[..<start].reversed().drop { $0.is(" ") }.starts(with: "..", by: { $0.is($1) })
                return before?.is(".") == true && !isAfterTwo
            case .method: return before?.is(":") == true
            case .other: return true
            }
        }
    }

    /// The quoted words of the message, the last first, and the function at its start.
    private static func candidates(in message: String) -> [String] {
        var quoted = message.split(separator: "'", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
        // `near 'end'` of a syntax error, `(global 'x')` of a runtime error: both come last.
        quoted.reverse()
        var words = quoted.filter { !$0.isEmpty && $0.utf8.count < 240 && $0.count < 60 }
        // "chunk:1: items:createItem: …" names a method.
        let parts = message.split(separator: ":").map { $0.drop { $0.is(" ") } }
        for part in parts.dropFirst(2).prefix(2).reversed() {
            let name = part.split(separator: ".").last.map(String.init) ?? ""
            if !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || $0.is("_") }) { words.append(name) }
        }
        return words
    }

    // MARK: The line

    /// The occurrences of a word, those of a name as a whole word.
    private static func occurrences(of word: [Character], in line: [Character]) -> [Range<Int>] {
        guard let first = word.first, word.count <= line.count else { return [] }
        let isName = isPart(first)
        return (0...line.count - word.count).compactMap { start in
            guard line[start..<start + word.count].elementsEqual(word, by: { $0.is($1) }) else { return nil }
            let before = start > 0 ? line[start - 1] : " "
            let after = start + word.count < line.count ? line[start + word.count] : " "
            return isName && (isPart(before) || isPart(after)) ? nil : start..<start + word.count
        }
    }

    /// Which characters are neither in a short string nor in a comment, as far as one line tells, and where a string
    /// without an end begins.
    private static func code(_ line: [Character]) -> (isCode: [Bool], open: Int?) {
        var isCode = Array(repeating: true, count: line.count)
        var quote: Character?
        var start = 0
        var index = 0
        while index < line.count {
            let character = line[index]
            if let open = quote {
                isCode[index] = false
                if character.is("\\"), index + 1 < line.count {
                    index += 1
                    isCode[index] = false
                } else if character.is(open) {
                    quote = nil
                }
            } else if character.is("\"") || character.is("'") {
                (quote, isCode[index], start) = (character, false, index)
            } else if character.is("-"), index + 1 < line.count, line[index + 1].is("-") {
                for rest in index..<line.count { isCode[rest] = false }
                return (isCode, nil)
            }
            index += 1
        }
        return (isCode, quote == nil ? nil : start)
    }

    private static func isPart(_ character: Character) -> Bool {
        character.is("_") || character.isLetter || character.isNumber
    }
}

/// A source line below an error's message, with marks below the characters at fault.
struct SourceExcerpt {
    let text: String
    /// Blanks and carets; nil without marks.
    let marks: String?
    /// Maximum number of characters shown: a longer line is truncated around its marks.
    private static let limit = 160
    /// Maximum number of bytes of these: one character can have megabytes of combining marks.
    private static let byteLimit = 4096

    /// Nil for a line that is not text: bytes of a binary file, control characters other than tabs, a character without end.
    ///
    /// - Parameters:
    ///   - line: the line, without its break.
    ///   - range: the characters to mark, if any.
    init?(_ line: some StringProtocol, marking range: Range<Int>?) {
        var characters = Array(line)
        if characters.last?.is("\r") ?? false { characters.removeLast() }
        guard
            !characters.contains(where: { character in
                character.unicodeScalars.contains {
                    $0 == "\u{FFFD}" || ($0.properties.generalCategory == .control && $0 != "\t")
                }
            })
        else { return nil }
        var start = 0
        if characters.count > Self.limit {
            start = max(0, min((range?.lowerBound ?? 0) - Self.limit / 2, characters.count - Self.limit))
        }
        let end = min(characters.count, start + Self.limit)
        guard characters[start..<end].reduce(0, { $0 + $1.utf8.count }) <= Self.byteLimit else { return nil }
        let head = start > 0 ? "…" : ""
        text = head + VisibleText.escaped(String(characters[start..<end])) + (end < characters.count ? "…" : "")
        guard let range else {
            marks = nil
            return
        }
        // Tabs stay, so that the marks align.
        let lower = min(max(range.lowerBound, start), end)
        let before = head + VisibleText.escaped(String(characters[start..<lower]))
        let count = max(1, min(range.upperBound, end) - lower)
        marks = String(before.map { $0.is("\t") ? "\t" : " " }) + String(repeating: "^", count: count)
    }
}

/// Replaces Lua's "(field 'integer index')" by the index expression of the source line.
enum ElementHint {
    private static let words = "(field 'integer index')"

    /// - Parameters:
    ///   - message: an error's message; other messages are returned unchanged.
    ///   - line: the source line of the error.
    /// - Returns: the message.
    static func message(_ message: String, line: Substring?) -> String {
        guard let range = message.firstRange(of: words) else { return message }
        let found = line.map(elements) ?? []
        let element = found.count == 1 ? "(element '\(found[0])')" : "(an element by its number)"
        return message[..<range.lowerBound] + element + message[range.upperBound...]
    }

    /// Each `name[number]` in a line, including dotted names.
    private static func elements(in line: Substring) -> [String] {
        line.matches(of: /[A-Za-z_][A-Za-z_0-9.]*\[[0-9]+\]/).map { String($0.output) }
    }
}

/// The texts of executed chunks, for the source lines of errors.
package final class SourceTexts {
    private var texts: NameTable<String> = [:]

    package init() {}

    /// Stores a chunk under its name in messages.
    package func remember(_ text: String, as name: String) {
        texts[name] = text
    }

    /// The names of all chunks.
    package var names: [String] { texts.keys.sorted() }

    /// The text of a chunk with a matching name.
    package func text(where fits: (String) -> Bool) -> String? { texts.first { fits($0.key) }?.value }

    /// A line of a chunk, counted from 1; linear in the length of the text.
    package func line(_ number: Int, of name: String) -> Substring? {
        guard let text = texts[name], number >= 1 else { return nil }
        let lines = text.split(separator: "\n", maxSplits: number, omittingEmptySubsequences: false)
        return number <= lines.count ? lines[number - 1] : nil
    }
}

/// An error of the scripting layer, returned to scripts as `nil, err`.
package struct ScriptError: Error, LuaErrorDetails, CustomStringConvertible {
    let code: String
    let message: String
    var path: String?

    package init(_ code: String, _ message: String, path: String? = nil) {
        self.code = code
        self.message = message
        self.path = path
    }

    package var description: String { message }
    package var luaDomain: String { "CubbyErrorDomain" }
    package var luaCode: LuaErrorCode { .word(code) }
    package var luaMessage: String { message }
    package var luaPath: String? { path }
}

extension FileError: LuaErrorDetails {
    public var luaDomain: String { "NSPOSIXErrorDomain" }
    public var luaCode: LuaErrorCode { .number(Int(code)) }
    public var luaMessage: String { message }
    public var luaPath: String? { path }
}

extension NetworkDenial: LuaErrorDetails {
    package var luaDomain: String { "NSPOSIXErrorDomain" }
    package var luaCode: LuaErrorCode { .number(13) }
}

extension PropertyListError: LuaErrorDetails {
    public var luaDomain: String { "NSCocoaErrorDomain" }
    public var luaCode: LuaErrorCode { .number(code.rawValue) }
}

extension ArchiveError: LuaErrorDetails {
    public var luaDomain: String { "NSCocoaErrorDomain" }
    public var luaCode: LuaErrorCode { .number(code.rawValue) }
}

extension StoreError: LuaErrorDetails, LuaErrorCarrier {
    public var luaDomain: String { domain }
    public var luaCode: LuaErrorCode { .word(code.identifier) }
    public var isScriptsFault: Bool { code.isProgrammerError }
    public var luaMessage: String { message }
    public var luaPath: String? { path }
}

extension CSVError: LuaErrorDetails {
    public var luaDomain: String { "CubbyErrorDomain" }
    public var luaCode: LuaErrorCode { .word("invalidCSV") }
}

extension ImageError: LuaErrorDetails {
    /// Errors of the file system are reported as for other files; limits of pictures have their own codes.
    private var systemError: FileError? { code == .unreadable || code == .unwritable ? fileError : nil }
    public var luaDomain: String { systemError?.luaDomain ?? "CubbyErrorDomain" }
    public var luaCode: LuaErrorCode { systemError?.luaCode ?? .word(code.rawValue) }
    public var luaMessage: String { message }
    public var luaPath: String? { path }
}

extension FormatPredicateError: LuaErrorDetails {
    public var luaDomain: String { "CubbyErrorDomain" }
    public var luaCode: LuaErrorCode { .word(code.rawValue) }
    public var isScriptsFault: Bool { true }
}

extension DefaultsError: LuaErrorDetails {
    package var luaDomain: String { "NSCocoaErrorDomain" }
    package var luaCode: LuaErrorCode {
        if case .file(let error) = self { return error.luaCode }
        return .word("invalidPreferences")
    }
    package var luaMessage: String { message }
    package var luaPath: String? { if case .file(let error) = self { error.path } else { nil } }
}

extension SQLiteError: LuaErrorDetails {
    package var luaDomain: String { "SQLite" }
    package var luaCode: LuaErrorCode { .word(identifier) }
    package var isScriptsFault: Bool { isStatementsFault }
}

/// An error in a file's content, with the file's path.
package struct LocatedError: Error, LuaErrorDetails, CustomStringConvertible {
    let error: any LuaErrorDetails
    package let luaPath: String?

    init(_ error: any LuaErrorDetails, _ path: String) {
        self.error = error
        luaPath = path
    }

    package var description: String { luaMessage }
    package var luaDomain: String { error.luaDomain }
    package var luaCode: LuaErrorCode { error.luaCode }
    package var luaMessage: String { "\(luaPath ?? ""): \(error.luaMessage)" }
}

/// The result of a function that may fail because of its environment: the value, or nil and the error.
package typealias OrError<Value> = Result<Value, any Error>

extension Result where Failure == any Error {
    /// Runs a body: its errors of a type become the result, others are thrown.
    package init<Rejection: Error>(returning type: Rejection.Type, _ body: () throws -> Success) throws {
        do { self = .success(try body()) } catch let error as Rejection { self = .failure(error) }
    }

    /// Transforms the value with a body that may fail.
    package func flatMap<New>(_ body: (Success) throws -> Result<New, any Error>) rethrows -> Result<New, any Error> {
        switch self {
        case .success(let value): try body(value)
        case .failure(let error): .failure(error)
        }
    }
}
