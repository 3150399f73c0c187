import ColumnEngine
import Files

/// Runs calls of the file layer, and converts their errors to a store's.
func attempt<Value>(_ body: () throws(FileError) -> Value) throws(StoreError) -> Value {
    do throws(FileError) {
        return try body()
    } catch {
        throw StoreError(.inputOutput, error.message, path: error.path, cause: error)
    }
}

extension Array where Element == UInt8 {
    /// `withUnsafeBytes` with a typed error, unlike the standard library's version for arrays.
    package func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let outcome: Result<Value, Failure> = withUnsafeBytes { buffer in
            do throws(Failure) { return .success(try body(buffer)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }
}
