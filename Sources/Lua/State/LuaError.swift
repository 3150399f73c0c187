internal import CLuaShim

/// An error of a Lua state: raised by a script, by the VM, or by a function of the host that a script called.
public struct LuaError: Error, CustomStringConvertible {
    /// The kind of an error.
    public enum Kind: Hashable, Sendable {
        /// The text is not a Lua chunk; `incomplete` when more lines could complete it.
        case syntax(incomplete: Bool)
        /// Raised by a script or a host function.
        case runtime
        /// An argument of a host function does not conform to its declaration.
        case argument
        /// A memory limit or the stack size was exceeded.
        case memory
        /// Cancelled from outside, as by Ctrl-C or with the task that waits for a run.
        case cancelled
        /// The ``LuaEngine`` was shut down, before a run or during it.
        case shutdown
        /// The deadline has passed.
        case deadline
        /// A script wrote more than ``LuaLimits/output``.
        case output
        /// Calls nested deeper than ``LuaLimits/callDepth``.
        case callDepth
    }

    /// The kind of this error.
    public var kind: Kind
    /// The message, with its position if known (`chunk:line: …`).
    public var message: String
    /// The call stack at the error, in the format of Lua's `debug.traceback`.
    public var traceback: String?
    /// The calls on the stack at the error, innermost first, if ``LuaState/keepsFrames`` is set.
    public var frames: [LuaFrame] = []
    /// The raised Lua value; nil for a Swift error. ``LuaState/value(of:)`` reads it.
    var raised: LuaReference?
    /// The Swift error thrown by a host function.
    public var underlying: (any Error)?
    /// What the run of a ``LuaEngine`` that failed with this error used; nil for other errors.
    public internal(set) var usage: LuaUsage?

    /// Creates an error to be thrown by a host function.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// Any error as one of a state.
    init(_ error: any Error) {
        self = error as? LuaError ?? LuaError(.runtime, "\(error)")
        if !(error is LuaError) { underlying = error }
    }

    public var description: String { message }
}

/// The fields of an error for scripts: `err.domain`, `err.code`, `err.message`, `err.path`.
///
/// For an error that does not conform, the message is its description.
public protocol LuaErrorDetails: Error {
    /// The source of the error: `err.domain`.
    var luaDomain: String { get }
    /// Identifies the error within its domain: `err.code`.
    var luaCode: LuaErrorCode { get }
    /// Explains the problem, its location and a remedy: `err.message`.
    var luaMessage: String { get }
    /// The path of the file concerned: `err.path`.
    var luaPath: String? { get }
    /// Whether the script caused it: the error is then raised as a string with its position, as by Lua's libraries.
    var isScriptsFault: Bool { get }
}

extension LuaErrorDetails {
    /// The error as a text.
    public var luaMessage: String { "\(self)" }
    /// Nil.
    public var luaPath: String? { nil }
    /// False.
    public var isScriptsFault: Bool { false }
}

/// An error that may only pass on another one, for callers with typed errors: scripts get the other.
package protocol LuaErrorCarrier: Error {
    /// The other error; nil for an error of its own.
    var passedOn: (any Error)? { get }
}

/// An error's code: a number or a word.
public enum LuaErrorCode: Sendable {
    /// A number, as for Cocoa and POSIX.
    case number(Int)
    /// A custom word.
    case word(String)
}

/// A Swift error as a Lua object.
final class LuaErrorObject {
    let error: any Error

    init(_ error: any Error) { self.error = error }

    var details: (any LuaErrorDetails)? { error as? any LuaErrorDetails }

    var message: String { details?.luaMessage ?? (error as? LuaError)?.message ?? String(describing: error) }
}

/// What a state remembers of errors.
struct LuaErrorState {
    /// The class of Swift errors in Lua.
    var objects: LuaClass<LuaErrorObject>?
    /// The error that last stopped running code; it also stops code of nested states.
    var stop: LuaError?
    /// The last error raised as a string, so that Swift receives the original error.
    var raisedAsText: (message: String, error: any Error)?
}

/// Conversion of errors between Lua and Swift.
extension LuaState {
    /// Pops the error that a protected entry left on top of the stack, and cuts the stack back to `top`.
    func takeError(_ status: Int32, on L: OpaquePointer, top: Int32) -> LuaError {
        defer { clua_settop(L, top) }
        guard clua_was_out_of_memory(status) == 0 else {
            return notEnoughMemory
        }
        guard clua_checkstack(L, 8) != 0 else { return LuaError(.memory, "stack overflow") }
        let value = value(at: -1, on: L)
        var error: LuaError
        if let object = errors.objects?.object(at: -1, on: L) {
            error = object.error as? LuaError ?? LuaError(.runtime, object.message)
            error.underlying = object.error is LuaError ? error.underlying : object.error
        } else {
            error = LuaError(.runtime, message(of: value, on: L))
            // Lua's string buffers and its compiler raise it as a string, `load` with a position.
            let reason = "not enough memory"
            if error.message == reason || clua_denied_limit(host) > 0 && error.message.hasSuffix(": \(reason)") {
                let position = error.message.dropLast(reason.count)
                error = notEnoughMemory
                error.message = position + error.message
            }
            if let exceeded = exceededLimit(for: error.message) { error.kind = exceeded }
            if let raised = errors.raisedAsText, error.message.hasSuffix(raised.message) {
                error.underlying = raised.error
            }
            if clua_was_syntax_error(status) != 0 {
                // A quoted string ends with its line: more lines cannot complete it.
                let isQuoted = error.message.contains("unfinished string near")
                error.kind = .syntax(incomplete: error.message.hasSuffix("near <eof>") && !isQuoted)
            }
        }
        error.raised = reference(at: -1, on: L)
        if let traceback = clua_last_traceback(L), clua_was_syntax_error(status) == 0 {
            error.traceback = String(cString: traceback)
            error.frames = takeFrames(on: L)
            error.message += methodHint(for: error.message, on: L)
        }
        if depth == 0 { clua_forget_traceback(L) }
        return error
    }

    /// The nearest name to a method that an object lacks. Lua's message knows only that the value is nil: an object such
    /// as an item may lack any field.
    private func methodHint(for message: String, on L: OpaquePointer) -> String {
        guard let receiver = clua_last_receiver(L), message.hasSuffix("')"),
            let start = message.firstRange(of: "attempt to call a nil value (method '")
        else { return "" }
        let (name, method) = (String(cString: receiver), String(message[start.upperBound...].dropLast(2)))
        let known = declarations[name, .class]?.functions.map(\.name) ?? []
        return memberHint(name, method) ?? NearestNames.hint(for: method, among: known)
    }

    /// The limit for which the last error was raised, if this is its message: scripts get these errors as texts.
    private func exceededLimit(for message: String) -> LuaError.Kind? {
        switch clua_exceeded(host) {
        case CLUA_EXCEEDED_OUTPUT where message.contains("output limit reached ("): .output
        case CLUA_EXCEEDED_DEPTH where message.contains("stack overflow (the limit of call depth is"): .callDepth
        case CLUA_EXCEEDED_MEMORY where message.contains("not enough memory"): .memory
        default: nil
        }
    }

    /// The raised Lua value; nil for a Swift error, or an error of another state.
    public func value(of error: LuaError) -> LuaValue? {
        guard let raised = error.raised, raised.releases === releases else { return nil }
        return reading(raised) { value(at: -1, on: $0) }
    }

    private func message(of value: LuaValue, on L: OpaquePointer) -> String {
        switch value {
        case .string(let text): return text.description
        case .nil: return "nil was raised as an error"
        case .table(let table) where table.metatable?["__tostring"].isNil ?? true:
            var text = LuaValueText(.error)
            return text.describe(value)
        default:
            let base = clua_gettop(L)
            defer { clua_settop(L, base) }
            guard clua_tolstring(L, -1) == 0, let text = bytes(at: -1, on: L) else {
                return "(an error object is \(value.typeName.withArticle) value)"
            }
            return String(escaping: text)
        }
    }

    /// The message that an error has for a raised value.
    package func message(ofRaised value: LuaValue) -> String {
        let L = current
        guard clua_checkstack(L, 4) != 0 else { return value.typeName }
        let base = clua_gettop(L)
        defer { clua_settop(L, base) }
        push(value, on: L)
        return message(of: value, on: L)
    }

    /// Pushes a Swift error as the Lua value to raise, and returns the status. The last step before Swift's frames
    /// return.
    func raise(_ error: any Error, on L: OpaquePointer) -> Int32 {
        _ = clua_checkstack(L, 8)
        // Whatever the memory limit is, the script gets the error.
        clua_exempt(host, 1)
        defer { clua_exempt(host, 0) }
        if let error = error as? LuaError {
            if let raised = error.raised, raised.releases === releases {
                push(raised, on: L)
                return CLUA_RAISE
            }
            switch error.kind {
            case .runtime, .argument, .syntax, .memory, .output, .callDepth:
                if error.kind == .memory { clua_set_exceeded(host, CLUA_EXCEEDED_MEMORY) }
                push(bytes: Array(error.message.utf8), on: L)
                return CLUA_RAISE_HERE
            case .cancelled, .shutdown, .deadline: break
            }
        } else if let details = error as? any LuaErrorDetails, details.isScriptsFault {
            errors.raisedAsText = (details.luaMessage, error)
            push(bytes: Array(details.luaMessage.utf8), on: L)
            return CLUA_RAISE_HERE
        }
        pushErrorObject(error, on: L)
        return CLUA_RAISE
    }

    /// The Lua object of a Swift error.
    package func errorValue(_ error: any Error) -> LuaValue {
        errors.objects?.value(LuaErrorObject(error)) ?? .nil
    }

    /// What a function returns for a failure: nil, the error and its number, if it has one.
    package func failure(_ error: any Error) -> [LuaValue] {
        let values = [.nil, errorValue(error)]
        guard case .number(let number) = (error as? any LuaErrorDetails)?.luaCode else { return values }
        return values + [.integer(Int64(number))]
    }

    fileprivate func text(ofError userdata: LuaUserdata) -> String? {
        reading(userdata.reference) { errors.objects?.object(at: -1, on: $0)?.message }
    }

    /// Replaces such an error on the stack by its text.
    ///
    /// - Returns: whether it is one.
    func takeErrorText(at index: Int32, on L: OpaquePointer) -> Bool {
        guard let error = errors.objects?.object(at: index, on: L), clua_checkstack(L, 2) != 0 else { return false }
        pushText(error.message, on: L)
        clua_replacevalue(L, index)
        return true
    }

    func pushErrorObject(_ error: any Error, on L: OpaquePointer) {
        errors.objects?.push(LuaErrorObject(error), on: L)
    }

    /// The class of Swift errors in Lua: `err.domain`, `err.code`, `err.message`, `err.path`. Scripts written for string
    /// errors work with it: it has the string methods, its length is the text's, and functions that take a string take
    /// it for its text (`io.stderr:write(err)`, `string.find(err, …)`, `table.concat { err }`).
    func makeErrorClass() -> LuaClass<LuaErrorObject> {
        let cls = LuaClass<LuaErrorObject>(
            "Error",
            doc:
                "The error that a function returns after nil, before its number if it has one; where a function takes a string, its text.",
            in: self, kind: .box,
            unknownMember: { object, name, call in
                guard clua_checkstack(call.L, 6) != 0 else { return nil }
                clua_pushglobals(call.L)
                guard clua_getfield(call.L, -1, "string") == 0, clua_getfield(call.L, -1, name) == 0 else { return nil }
                guard clua_type(call.L, -1) == LuaBasicType.function.rawValue,
                    case .function(let function) = call.state.value(at: -1, on: call.L)
                else { return nil }
                let text = LuaValue.text(object.message)
                return call.returns(
                    ownedFunction: { inner in
                        let values = inner.allValues
                        return try inner.returns(values: function.call(arguments: [text] + values.dropFirst()))
                    })
            })
        cls.declareOperator(
            "index", .text, returns: .function, doc: "A string method, applied to the message: `err:find(\"disk\")`.")
        cls.property(
            "domain", .string,
            doc: "The error's domain: `CubbyErrorDomain`, `NSCocoaErrorDomain`, `NSPOSIXErrorDomain`."
        ) { object, call in call.returns(object.details?.luaDomain ?? "LuaErrorDomain") }
        cls.property("code", .any, doc: "The error's code: a number of Cocoa's or POSIX's, or a word.") {
            object, call in
            switch object.details?.luaCode {
            case .number(let number): call.returns(Int64(number))
            case .word(let word): call.returns(word)
            case nil: call.returns(LuaValue.nil)
            }
        }
        cls.property("message", .string, doc: "What happened, where, and what to do.") { object, call in
            call.returns(object.message)
        }
        cls.property("path", .optional(.string), doc: "The path of the affected file.") { object, call in
            call.returns(object.details?.luaPath.map(LuaValue.text) ?? .nil)
        }
        cls.metamethod("__tostring") { object, call in call.returns(object.message) }
        cls.metamethod("__len") { object, call in call.returns(object.message.utf8.count) }
        cls.rawMetamethod("__concat") { call in
            let texts = call.allValues.prefix(2).map { call.state.describe($0) }
            return call.returns(LuaString(texts.flatMap(\.bytes)))
        }
        return cls
    }
}

extension LuaValue {
    /// The text of an error that a function returned; nil for other values. Such an error passes for its text.
    package var errorText: String? {
        if case .userdata(let userdata) = self { userdata.state.text(ofError: userdata) } else { nil }
    }
}
