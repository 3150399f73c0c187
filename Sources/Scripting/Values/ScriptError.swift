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
