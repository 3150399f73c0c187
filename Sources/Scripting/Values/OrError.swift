import Lua

/// The result of a function that may fail because of its environment: the value, or nil and the error.
typealias OrError<Value> = Result<Value, any Error>

extension Result where Failure == any Error {
    /// Runs a body: its errors of a type become the result, others are thrown.
    init<Refusal: Error>(returning type: Refusal.Type, _ body: () throws -> Success) throws {
        do { self = .success(try body()) } catch let error as Refusal { self = .failure(error) }
    }

    /// Transforms the value with a body that may fail.
    func flatMap<New>(_ body: (Success) throws -> Result<New, any Error>) rethrows -> Result<New, any Error> {
        switch self {
        case .success(let value): try body(value)
        case .failure(let error): .failure(error)
        }
    }
}

extension Result where Success == LuaResults, Failure == any Error {
    /// The results, or nil and the error.
    func results(_ call: LuaCall) -> LuaResults {
        switch self {
        case .success(let results): results
        case .failure(let error): call.returns(failure: error)
        }
    }
}
